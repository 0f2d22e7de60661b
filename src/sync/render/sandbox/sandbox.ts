/** Runs the harness in a process that can read only the exported commit and the toolchain, within limits. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { killProcessGroup } from '../../../os/process/child.ts';
import { endWithParent } from '../../../os/worker/child-prefix.ts';
import { RenderError, type RenderErrorCode } from '../errors.ts';
import { RESULT_FD, type RenderJob } from '../protocol.ts';
import type { Isolation } from './os-isolation.ts';
import { lowerPriority, residentBytes } from './process-memory.ts';
import type { Toolchain } from './toolchain.ts';

export interface RenderLimits {
  readonly timeoutMs: number;
  readonly cpuSeconds: number;
  readonly heapMiB: number;
  /** The most bytes of the result and of everything that the program prints. */
  readonly outputBytes: number;
}

export interface Sandbox {
  readonly toolchain: Toolchain;
  readonly isolation: Isolation;
  readonly limits: RenderLimits;
  readonly compileCache?: { readonly folder: string; readonly writable: boolean };
}

const CHECK_MEMORY_EVERY_MS = 100;
// Most renders take a second or two. A longer one leaves the CPU to them.
const LONG_RENDER_MS = 5000;
// Enough for the stack of an uncaught error.
const MAX_LOG = 16 * 1024;
// Resident memory in addition to the heap: young generation and data that the program reads.
const OVERHEAD = 512 * 1024 * 1024;

/** Runs the harness for one job. Resolves to the bytes that the harness wrote, if it exited with 0. */
export function runSandbox(sandbox: Sandbox, job: RenderJob, signal?: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // An aborted signal sends no event any more.
    signal?.throwIfAborted();
    const child = start(sandbox, job);
    const { limits } = sandbox;
    const output = collectOutput(child, limits.outputBytes, () => stop('TooMuchOutput'));
    let stopped: RenderErrorCode | undefined;
    let aborted = false;

    const timer = setTimeout(() => stop('Timeout'), limits.timeoutMs);
    const checking = setInterval(() => void checkMemory(), CHECK_MEMORY_EVERY_MS);
    const slow = setTimeout(() => void lowerPriority(child.pid), LONG_RENDER_MS);
    const onAbort = (): void => {
      aborted = true;
      killProcessGroup(child);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code, name) => settle(() => finish(code, name)));

    function stop(code: RenderErrorCode): void {
      stopped ??= code;
      killProcessGroup(child);
    }

    async function checkMemory(): Promise<void> {
      const bytes = child.pid === undefined ? 0 : await residentBytes(child.pid);
      if (bytes > limits.heapMiB * 1024 * 1024 + OVERHEAD) stop('OutOfMemory');
    }

    function settle(then: () => void): void {
      clearTimeout(timer);
      clearTimeout(slow);
      clearInterval(checking);
      signal?.removeEventListener('abort', onAbort);
      then();
    }

    function finish(code: number | null, name: NodeJS.Signals | null): void {
      const { result, log } = output();
      if (aborted) reject(signal?.reason);
      else if (stopped) reject(limitError(stopped, limits));
      else if (code === 0) resolve(result);
      else reject(exitError(code, name, log, limits));
    }
  });
}

function start({ toolchain, isolation, limits, compileCache }: Sandbox, job: RenderJob): ChildProcess {
  const cacheFolder = compileCache ? [`${compileCache.folder}/`] : [];
  const readable = [`${job.root}/`, ...toolchain.readable, ...cacheFolder].map(
    (path) => `--allow-fs-read=${path}`,
  );
  const writable = compileCache?.writable ? [`--allow-fs-write=${compileCache.folder}/`] : [];
  const prefix = [...endWithParent(), ...isolation.prefix({ ...limits, writes: writable.length > 0 })];
  const flags = [
    '--permission',
    // The toolchain is links: its modules have the paths of the links.
    '--preserve-symlinks',
    '--preserve-symlinks-main',
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
    // No variables of this process. TZ and LC_ALL make results equal on all machines; PATH is for setpriv, unshare and prlimit.
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
    // In its own process group: it is killed with everything that it started, and cannot signal our group.
    detached: true,
  });
}

interface SandboxOutput {
  readonly result: Buffer;
  readonly log: string;
}

function collectOutput(child: ChildProcess, limit: number, onTooLarge: () => void): () => SandboxOutput {
  const result: Buffer[] = [];
  let log = '';
  let bytes = 0;
  const count = (chunk: Buffer): boolean => {
    bytes += chunk.length;
    if (bytes > limit) onTooLarge();
    return bytes <= limit;
  };
  const lines = child.stdio[RESULT_FD] as Readable | null | undefined;
  lines?.on('data', (chunk: Buffer) => {
    if (count(chunk)) result.push(chunk);
  });
  child.stdout?.on('data', count);
  child.stderr?.on('data', (chunk: Buffer) => {
    if (count(chunk)) log = (log + chunk.toString('utf8')).slice(-MAX_LOG);
  });
  return () => ({ result: Buffer.concat(result), log });
}

// unshare prints this when the kernel killed the process inside: at the CPU limit, as V8 reports the memory limit itself.
const KILLED_INSIDE = /^unshare: sigprocmask unblock failed/m;
// Messages of V8 and of the C++ library.
const NO_MEMORY = /heap out of memory|process out of memory|Failed to allocate|bad_alloc/;
const LIMIT_HINT =
  'a render only declares objects: look for an endless loop, or for data that does not belong there';

function limitError(code: RenderErrorCode, limits: RenderLimits): RenderError {
  const messages: Partial<Record<RenderErrorCode, string>> = {
    Timeout: `the render was stopped: it did not finish within ${limits.timeoutMs / 1000} s`,
    OutOfMemory: `the render was stopped: it used more than ${limits.heapMiB} MiB of memory`,
    TooMuchOutput: `the render was stopped: it wrote more than ${limits.outputBytes} bytes`,
  };
  return new RenderError(code, [{ message: messages[code] ?? code }], LIMIT_HINT);
}

function cpuError({ cpuSeconds }: RenderLimits): RenderError {
  const message = `the render was stopped: it used more than ${cpuSeconds} s of CPU time`;
  return new RenderError('Timeout', [{ message }], LIMIT_HINT);
}

/**
 * Returns the error of a process that failed by itself. V8 aborts when the heap is full; prlimit and unshare report a signal as
 * 128 + its number.
 */
function exitError(
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
  const message = `the program exited ${how} before the render was complete: ${lastError(log)}`;
  return new RenderError('Failed', [{ message }], 'run `npm run synth` to reproduce it');
}

function lastError(log: string): string {
  const line = log.split('\n').find((text) => /^\w*Error\b|^Warning|unsettled/i.test(text));
  return (line ?? log.trim().split('\n').at(-1) ?? '').slice(0, 300) || 'no output';
}
