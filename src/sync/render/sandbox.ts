/** Runs the harness in a process that may read the exported commit and the toolchain, and nothing else; and ends it in time. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { killProcessGroup } from '../../os/process-group.ts';
import { RenderError, type RenderErrorCode } from './errors.ts';
import type { Isolation } from './isolation.ts';
import { residentBytes } from './memory.ts';
import { RESULT_FD, type RenderJob } from './protocol.ts';
import type { Toolchain } from './toolchain.ts';

export interface RenderLimits {
  readonly timeoutMs: number;
  readonly cpuSeconds: number;
  readonly heapMiB: number;
  /** Of all that one render says, result and prints. */
  readonly outputBytes: number;
}

export interface Sandbox {
  readonly toolchain: Toolchain;
  readonly isolation: Isolation;
  readonly limits: RenderLimits;
  readonly compileCache?: { readonly folder: string; readonly writable: boolean };
}

const WATCH_EVERY_MS = 100;
// Enough for the stack of an uncaught error.
const KEPT_LOG = 16 * 1024;
// Resident: heap, young generation, and what the program reads.
const BESIDES_HEAP = 512 * 1024 * 1024;

/** The bytes that the harness wrote, when it ended by itself. */
export function runSandbox(sandbox: Sandbox, job: RenderJob, signal?: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = start(sandbox, job);
    const { limits } = sandbox;
    const heard = listen(child, limits.outputBytes, () => stop('TooMuchOutput'));
    let stopped: RenderErrorCode | undefined;
    let aborted = false;

    const timer = setTimeout(() => stop('Timeout'), limits.timeoutMs);
    const watching = setInterval(() => void watchMemory(), WATCH_EVERY_MS);
    const onAbort = (): void => {
      aborted = true;
      killProcessGroup(child);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code, name) => settle(() => ended(code, name)));

    function stop(code: RenderErrorCode): void {
      stopped ??= code;
      killProcessGroup(child);
    }

    async function watchMemory(): Promise<void> {
      const bytes = child.pid === undefined ? 0 : await residentBytes(child.pid);
      if (bytes > limits.heapMiB * 1024 * 1024 + BESIDES_HEAP) stop('OutOfMemory');
    }

    function settle(then: () => void): void {
      clearTimeout(timer);
      clearInterval(watching);
      signal?.removeEventListener('abort', onAbort);
      then();
    }

    function ended(code: number | null, name: NodeJS.Signals | null): void {
      const { result, log } = heard();
      if (aborted) reject(signal?.reason);
      else if (stopped) reject(limitError(stopped, limits));
      else if (code === 0) resolve(result);
      else reject(endError(code, name, log, limits));
    }
  });
}

function start({ toolchain, isolation, limits, compileCache }: Sandbox, job: RenderJob): ChildProcess {
  const cacheFolder = compileCache ? [`${compileCache.folder}/`] : [];
  const readable = [`${job.root}/`, ...toolchain.readable, ...cacheFolder].map(
    (path) => `--allow-fs-read=${path}`,
  );
  const writable = compileCache?.writable ? [`--allow-fs-write=${compileCache.folder}/`] : [];
  const prefix = isolation.prefix({ ...limits, writes: writable.length > 0 });
  const flags = [
    '--permission',
    ...readable,
    ...writable,
    `--max-old-space-size=${limits.heapMiB}`,
    '--no-experimental-sqlite',
    '--no-experimental-ffi',
    '--no-experimental-webstorage',
    '--disable-sigusr1',
    '--no-warnings',
    '--unhandled-rejections=strict',
  ];
  const command = [...prefix, process.execPath, ...flags, toolchain.harness, JSON.stringify(job)];
  const [file = process.execPath, ...args] = command;
  return spawn(file, args, {
    cwd: job.root,
    // Nothing of ours. What is there makes dates and words the same everywhere; PATH finds the isolation.
    env: {
      TZ: 'UTC',
      LC_ALL: 'C',
      ...(prefix.length > 0 ? { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' } : {}),
      ...(compileCache
        ? {
            NODE_COMPILE_CACHE: compileCache.folder,
            NODE_COMPILE_CACHE_READONLY: compileCache.writable ? '0' : '1',
          }
        : {}),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own: it is killed with all that it may have started, and cannot signal ours.
    detached: true,
  });
}

interface Heard {
  readonly result: Buffer;
  readonly log: string;
}

function listen(child: ChildProcess, limit: number, onTooMuch: () => void): () => Heard {
  const result: Buffer[] = [];
  let log = '';
  let bytes = 0;
  const count = (piece: Buffer): boolean => {
    bytes += piece.length;
    if (bytes > limit) onTooMuch();
    return bytes <= limit;
  };
  const lines = child.stdio[RESULT_FD] as Readable | null | undefined;
  lines?.on('data', (piece: Buffer) => {
    if (count(piece)) result.push(piece);
  });
  child.stdout?.on('data', count);
  child.stderr?.on('data', (piece: Buffer) => {
    if (count(piece)) log = (log + piece.toString('utf8')).slice(-KEPT_LOG);
  });
  return () => ({ result: Buffer.concat(result), log });
}

// What unshare says when the kernel ended the program inside it: at the limit of CPU time, as memory has words of its own.
const KILLED_INSIDE = /^unshare: sigprocmask unblock failed/m;
// V8's and the C++ library's own last words.
const NO_MEMORY = /heap out of memory|process out of memory|Failed to allocate|bad_alloc/;
const KEEP_SMALL = 'a render only declares objects: look for a loop, or for data that does not belong there';

function limitError(code: RenderErrorCode, limits: RenderLimits): RenderError {
  const words: Partial<Record<RenderErrorCode, string>> = {
    Timeout: `the render was not done within ${limits.timeoutMs / 1000} s, and was ended`,
    OutOfMemory: `the render wanted more than ${limits.heapMiB} MiB of memory, and was ended`,
    TooMuchOutput: `the render gave more than ${limits.outputBytes} bytes, and was ended`,
  };
  return new RenderError(code, [{ message: words[code] ?? code }], KEEP_SMALL);
}

function cpuError({ cpuSeconds }: RenderLimits): RenderError {
  const message = `the render used more than ${cpuSeconds} s of CPU time, and was ended`;
  return new RenderError('Timeout', [{ message }], KEEP_SMALL);
}

/** It ended by itself, but not well. V8 aborts when the heap is full; a wrapper reports a signal as 128 + its number. */
function endError(
  code: number | null,
  name: NodeJS.Signals | null,
  log: string,
  limits: RenderLimits,
): RenderError {
  const signal =
    name ??
    ({ 132: 'SIGILL', 133: 'SIGTRAP', 134: 'SIGABRT', 137: 'SIGKILL', 152: 'SIGXCPU' } as const)[code ?? 0];
  if (signal === 'SIGXCPU' || signal === 'SIGKILL') return cpuError(limits);
  if (NO_MEMORY.test(log)) return limitError('OutOfMemory', limits);
  if (KILLED_INSIDE.test(log)) return cpuError(limits);
  const how = signal ? `by ${signal}` : `with code ${code}`;
  const message = `the program ended ${how} before it had rendered: ${lastWords(log)}`;
  return new RenderError('Failed', [{ message }], 'run it yourself: npm run synth');
}

function lastWords(log: string): string {
  const line = log.split('\n').find((text) => /^\w*Error\b|^Warning|unsettled/i.test(text));
  return (line ?? log.trim().split('\n').at(-1) ?? '').slice(0, 300) || 'without a word';
}
