/** Runs one task in a render worker, and puts together what it sends. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startWorker } from '../../../os/worker/worker-process.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../../rendered.ts';
import { RenderError } from '../errors.ts';
import type { RenderResult } from '../result.ts';
import type { RenderMessage, RenderTask } from './protocol.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), `main.${EXTENSION}`);
/** The limits of result.ts keep a result far below this. */
const HEAP_MIB = 1024;
/** In addition, both results as bytes. */
const MEMORY_MIB = 2048;

/** Undefined when the cache has no entry. */
export function runRenderTask(task: RenderTask, signal?: AbortSignal): Promise<RenderResult | undefined> {
  return new Promise((resolve, reject) => {
    // An aborted signal sends no event any more.
    signal?.throwIfAborted();
    const result = createAssembly();
    let answer: RenderMessage | undefined;
    const worker = startWorker({ program: PROGRAM, heapMiB: HEAP_MIB, memoryMiB: MEMORY_MIB, onMessage });
    const onAbort = (): void => void worker.end();
    signal?.addEventListener('abort', onAbort, { once: true });
    worker.send(task);

    function onMessage(message: unknown): void {
      const received = message as RenderMessage;
      if (result.add(received)) return;
      answer = received;
      void worker.end();
    }

    void finish();

    async function finish(): Promise<void> {
      const end = await worker.ended;
      signal?.removeEventListener('abort', onAbort);
      if (signal?.aborted) reject(signal.reason);
      else if (!answer) reject(endedEarly(end));
      else settle(answer);
    }

    function settle(message: RenderMessage): void {
      if ('done' in message) resolve({ targets: result.targets, warnings: message.done.warnings });
      else if ('missing' in message) resolve(undefined);
      else reject(errorOf(message));
    }
  });
}

interface Assembly {
  readonly targets: readonly RenderedTarget[];
  /** False for a message that ends the task. */
  add(message: RenderMessage): boolean;
}

function createAssembly(): Assembly {
  const targets: RenderedTarget[] = [];
  let units: RenderedUnit[] = [];
  let objects: RenderedObject[] = [];
  return { targets, add };

  function add(message: RenderMessage): boolean {
    if ('objects' in message) {
      objects.push(...message.objects);
    } else if ('unit' in message) {
      units.push({ ...message.unit, objects });
      objects = [];
    } else if ('target' in message) {
      targets.push({ ...message.target, units });
      units = [];
    } else {
      return false;
    }
    return true;
  }
}

function errorOf(message: RenderMessage): Error {
  if ('failed' in message) {
    const { code, problems, hint } = message.failed;
    return new RenderError(code, problems, hint);
  }
  const { message: text, code } =
    'broken' in message ? message.broken : { message: 'unknown answer', code: undefined };
  return Object.assign(new Error(text), code === undefined ? {} : { code });
}

function endedEarly({ how, log, outOfMemory }: { how: string; log: string; outOfMemory: boolean }): Error {
  if (outOfMemory) {
    const message = `reading the result of the render needs more than ${HEAP_MIB} MiB of memory`;
    return new RenderError('OutOfMemory', [{ message }], 'split the fleet over several Pipelines');
  }
  return new Error(`the render worker ended early (${how}): ${log.trim().slice(-300)}`);
}
