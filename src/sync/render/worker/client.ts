/** Runs one task in a render worker, and puts together what it sends. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startWorker, type WorkerEnd } from '../../../os/worker/worker-process.ts';
import type { ContentVerdict } from '../../content-verdict.ts';
import { RenderError, type RenderErrorCode } from '../errors.ts';
import type { RenderResult } from '../result.ts';
import { createAssembly } from './assembly.ts';
import type { RenderMessage, RenderTask } from './protocol.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), `main.${EXTENSION}`);
export interface RenderWorkerLimits {
  readonly heapMiB: number;
  /** The limit of all data of the worker: in addition to the heap, both results as bytes. */
  readonly memoryMiB: number;
  /** The CPU time of the worker itself, without the renders that it starts. */
  readonly cpuSeconds: number;
  readonly judgeMs: number;
}

/**
 * The limits of result.ts keep a result far below these. To judge the largest fleet, 100,000 objects, takes some 3 s of CPU time, which
 * is long in a process of low priority on a busy machine.
 */
export const RENDER_WORKER_LIMITS: RenderWorkerLimits = {
  heapMiB: 1024,
  memoryMiB: 2048,
  cpuSeconds: 120,
  judgeMs: 300_000,
};

export interface RenderWorkerOptions {
  readonly signal?: AbortSignal | undefined;
  /** The program of a worker that can judge, for tasks that ask for it. */
  readonly program?: string | undefined;
  readonly limits?: Partial<RenderWorkerLimits> | undefined;
}

export interface TaskResult extends RenderResult {
  /** The verdict of a task that asks for it. The result is without the objects if they are refused. */
  readonly verdict?: ContentVerdict;
}

/** Runs one task in a worker. Resolves to undefined when the cache has no entry. */
export function runRenderTask(
  task: RenderTask,
  { signal, program = PROGRAM, limits: changed }: RenderWorkerOptions = {},
): Promise<TaskResult | undefined> {
  return new Promise((resolve, reject) => {
    // An aborted signal sends no event any more.
    signal?.throwIfAborted();
    const limits = { ...RENDER_WORKER_LIMITS, ...changed };
    const result = createAssembly();
    let answer: RenderMessage | undefined;
    let judging: NodeJS.Timeout | undefined;
    let isLate = false;
    const worker = startWorker({ program, ...limits, onMessage });
    const onAbort = (): void => void worker.end();
    signal?.addEventListener('abort', onAbort, { once: true });
    worker.send(task);

    function onMessage(message: unknown): void {
      const received = message as RenderMessage;
      clearTimeout(judging);
      judging = 'judging' in received ? setTimeout(onLate, limits.judgeMs) : undefined;
      if (!judging && !result.add(received)) {
        answer = received;
        void worker.end();
      }
    }

    function onLate(): void {
      isLate = true;
      void worker.end();
    }

    void finish();

    async function finish(): Promise<void> {
      const end = await worker.ended;
      clearTimeout(judging);
      signal?.removeEventListener('abort', onAbort);
      const brokenBy = judging ? brokenJudgeReason(end, limits, isLate) : undefined;
      if (signal?.aborted) reject(signal.reason);
      else if (answer) settle(answer);
      else if (brokenBy !== undefined) resolve(refusal(brokenBy));
      else reject(endedEarly(end, limits));
    }

    function settle(message: RenderMessage): void {
      if ('done' in message) resolve({ targets: result.targets, ...message.done });
      else if ('missing' in message) resolve(undefined);
      else reject(errorOf(message));
    }
  });
}

function refusal(message: string): TaskResult {
  return { targets: [], warnings: [], verdict: { accepted: false, message } };
}

/** Returns why the commit broke the judge. Undefined when something else has ended the worker: then nothing is known about the commit. */
function brokenJudgeReason(end: WorkerEnd, limits: RenderWorkerLimits, isLate: boolean): string | undefined {
  const { how, outOfMemory, outOfCpu } = end;
  if (isLate) return `checking its objects takes more than ${limits.judgeMs / 1000} s: ${HINT}`;
  if (outOfCpu) return `checking its objects takes more than ${limits.cpuSeconds} s of CPU time: ${HINT}`;
  if (outOfMemory) return `checking its objects needs more than ${limits.heapMiB} MiB of memory: ${HINT}`;
  if (ENDED_FROM_OUTSIDE.includes(how)) return undefined;
  return `checking its objects ends the process that does it (${how}): ${HINT}`;
}

const HINT = 'make the objects smaller, or split the fleet over several Pipelines';

/** These ends come from a person, from the system when memory is short, or because this process ends. */
const ENDED_FROM_OUTSIDE = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'code 0'];

function errorOf(message: RenderMessage): Error {
  if ('failed' in message) {
    const { code, problems, hint } = message.failed;
    return new RenderError(code, problems, hint);
  }
  const { message: text, code } =
    'broken' in message ? message.broken : { message: 'unknown answer', code: undefined };
  return Object.assign(new Error(text), code === undefined ? {} : { code });
}

function endedEarly(end: WorkerEnd, { heapMiB, cpuSeconds }: RenderWorkerLimits): Error {
  const { how, log, outOfMemory, outOfCpu } = end;
  if (outOfMemory) return tooLarge('OutOfMemory', `${heapMiB} MiB of memory`);
  if (outOfCpu) return tooLarge('Timeout', `${cpuSeconds} s of CPU time`);
  return new Error(`the render worker ended early (${how}): ${log.trim().slice(-300)}`);
}

function tooLarge(code: RenderErrorCode, limit: string): RenderError {
  const message = `reading the result of the render needs more than ${limit}`;
  return new RenderError(code, [{ message }], 'split the fleet over several Pipelines');
}
