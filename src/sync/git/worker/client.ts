/**
 * A transport whose work is done in a process of its own: what a repository contains can neither block the event loop of sync nor
 * use up its memory. The worker starts with the first call, and ends when there was none for a while.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optional } from '../../../kube/objects/optional.ts';
import { startWorker, type WorkerEnd, type WorkerProcess } from '../../../os/worker/worker-process.ts';
import { GitError } from '../errors.ts';
import type { GitOptions } from '../options.ts';
import type { GitBackend, GitTransport } from '../transport.ts';
import { withAccess } from './access.ts';
import { errorFrom, type GitAccess, type GitAnswer, type GitMethod, type GitRequest } from './protocol.ts';

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), `main.${EXTENSION}`);
// isomorphic-git holds a pack twice, and up to 256 MiB may be fetched; objects are at most 64 MiB.
const [HEAP_MIB, MEMORY_MIB] = [512, 1024];
/** A render asks several times in a row. */
const IDLE_MS = 5000;
/** Each step of a call has a limit of its own; this ends a worker that does not respond. */
const CALL_MS = 600_000;
const ABORT_MS = 2000;

interface OpenWorker {
  readonly process: WorkerProcess;
  readonly pending: Map<number, PendingCall>;
  isEnding: boolean;
}

interface Call {
  readonly method: GitMethod;
  readonly args: readonly unknown[];
  readonly signal: AbortSignal | undefined;
  readonly access?: GitAccess | undefined;
}

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export function createWorkerTransport(
  options: GitOptions,
  { display, listRefs, close: closeBackend }: Pick<GitBackend, 'display' | 'listRefs' | 'close'>,
): GitTransport {
  let worker: OpenWorker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  let closed = 0;

  return {
    display,
    listRefs,
    ...methodsOf(call),
    async close() {
      closed += 1;
      await endWorker();
      await closeBackend();
    },
  };

  async function call<T>(method: GitMethod, args: readonly unknown[], signal?: AbortSignal): Promise<T> {
    if (!options.tokens) return run({ method, args, signal });
    const before = closed;
    return await withAccess(options.tokens, { method, signal }, (access) => {
      if (closed !== before) throw aborted();
      return run({ method, args, signal, access });
    });
  }

  async function run<T>(asked: Call): Promise<T> {
    if (asked.signal?.aborted) throw aborted(asked.signal.reason);
    if (!worker?.isEnding) return ask((worker ??= open()), asked);
    // Two must not write to one folder: with a worker, its git has ended.
    await worker.process.ended;
    return run(asked);
  }

  async function ask<T>(used: OpenWorker, { method, args, signal, access }: Call): Promise<T> {
    const { process, pending } = used;
    clearTimeout(idle);
    process.setIdle(false);
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    pending.set(id, { resolve, reject });
    const onAbort = (): void => {
      send(process, { abort: id });
      limit.refresh();
    };
    // After an abort, what does not end by itself is ended soon.
    const limit = createLimit(
      () => void endProcess(used),
      () => (signal?.aborted ? ABORT_MS : CALL_MS),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    send(process, { id, method, args, ...optional('access', access) });
    try {
      return (await promise) as T;
    } finally {
      limit.stop();
      signal?.removeEventListener('abort', onAbort);
      pending.delete(id);
      if (pending.size === 0) waitIdle(used);
    }
  }

  function open(): OpenWorker {
    const opened = openWorker(options, display);
    void forget(opened);
    return opened;
  }

  async function forget(opened: OpenWorker): Promise<void> {
    await opened.process.ended;
    if (worker === opened) worker = undefined;
  }

  function waitIdle(used: OpenWorker): void {
    used.process.setIdle(true);
    if (used !== worker) return;
    idle = setTimeout(() => void endProcess(used), IDLE_MS);
    idle.unref();
  }

  async function endWorker(): Promise<void> {
    clearTimeout(idle);
    if (worker) await endProcess(worker);
  }
}

function methodsOf(
  call: <T>(method: GitMethod, args: readonly unknown[], signal?: AbortSignal) => Promise<T>,
): Pick<GitTransport, GitMethod> {
  return {
    fetch: (ref, signal) => call('fetch', [ref], signal),
    deepen: (ref, depth, signal) => call('deepen', [ref, depth], signal),
    ancestry: (question, signal) => call('ancestry', [question], signal),
    signatures: (question, signal) => call('signatures', [question], signal),
    revert: (question, signal) => call('revert', [question], signal),
    ensure: (commit, ref, signal) => call('ensure', [commit, ref], signal),
    has: (commit) => call('has', [commit]),
    commit: (oid) => call('commit', [oid]),
    files: (commit) => call('files', [commit]),
    blobs: (oids) => call('blobs', [oids]),
    changedPaths: (from, to) => call('changedPaths', [from, to]),
    exportTree: (commit, folder, limits) => call('exportTree', [commit, folder, limits]),
  };
}

async function endProcess(worker: OpenWorker): Promise<void> {
  worker.isEnding = true;
  await worker.process.end();
}

function openWorker(options: GitOptions, display: string): OpenWorker {
  const pending = new Map<number, PendingCall>();
  const process = startWorker({ program: PROGRAM, heapMiB: HEAP_MIB, memoryMiB: MEMORY_MIB, onMessage });
  void rejectPending();
  const { tokens, ...values } = options;
  send(process, { open: { ...values, hasTokens: tokens !== undefined } });
  return { process, pending, isEnding: false };

  function onMessage(message: unknown): void {
    const answer = message as GitAnswer;
    const waiting = pending.get(answer.id);
    if ('error' in answer) waiting?.reject(errorFrom(answer.error));
    else waiting?.resolve(answer.result);
  }

  async function rejectPending(): Promise<void> {
    const end = await process.ended;
    for (const { reject } of pending.values()) reject(endedEarly(end, display));
  }
}

function send(process: WorkerProcess, request: GitRequest): void {
  process.send(request);
}

interface Limit {
  /** Counts again from now on. */
  refresh(): void;
  stop(): void;
}

function createLimit(end: () => void, afterMs: () => number): Limit {
  let timer = setTimeout(end, afterMs());
  return {
    refresh() {
      clearTimeout(timer);
      timer = setTimeout(end, afterMs());
    },
    stop: () => clearTimeout(timer),
  };
}

function aborted(cause?: unknown): GitError {
  return new GitError('Aborted', 'the call was canceled', { cause });
}

function endedEarly({ how, log, outOfMemory }: WorkerEnd, where: string): GitError {
  if (outOfMemory) {
    return new GitError('TooLarge', `reading the repository needs more than ${MEMORY_MIB} MiB of memory`, {
      where,
      hint: 'keep large files and other code out of the fleet repository',
    });
  }
  return new GitError('Aborted', `reading the repository was ended (${how})`, {
    where,
    hint: 'sync retries with the next poll',
    cause: new Error(log.trim().slice(-300)),
  });
}
