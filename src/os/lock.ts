/**
 * A lock across all processes of this machine: a listening socket in Linux's abstract namespace. The kernel gives it
 * to one process only and frees it when that process ends, however it ends, so there are no stale locks and nothing
 * to clean up. A waiting process connects to the holder and tries again when that connection closes.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { systemCode } from './errors.ts';

export interface LockOptions {
  /** Called once, before waiting for another holder. */
  readonly waiting?: (holder: string) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Lock {
  release(): Promise<void>;
}

/** `name` is any text that identifies the lock, for example the path of the folder that it guards. */
export async function acquireLock(name: string, options: LockOptions = {}): Promise<Lock> {
  const path = ownLockPath(name);
  let reported = false;
  for (;;) {
    options.signal?.throwIfAborted();
    const lock = await tryLock(path);
    if (lock) return lock;
    await holderReleased(path, options.signal, (holder) => {
      if (!reported) options.waiting?.(holder);
      reported = true;
    });
  }
}

/** Undefined when another holds it. */
export async function tryAcquireLock(name: string): Promise<Lock | undefined> {
  return await tryLock(ownLockPath(name));
}

/** Who holds it, without waiting for it. `uid` is the user of the process that holds it: each user has its own locks. */
export async function lockHolder(name: string, uid = process.getuid?.()): Promise<string | undefined> {
  let found: string | undefined;
  const asked = new AbortController();
  // A holder that is stopped or too busy to answer holds it all the same.
  const timer = setTimeout(() => {
    found = 'a process that does not answer';
    asked.abort();
  }, ANSWER_MS);
  await holderReleased(lockPath(name, uid), asked.signal, (holder) => {
    found = holder;
    asked.abort();
  });
  clearTimeout(timer);
  return found;
}

const ANSWER_MS = 1000;

function ownLockPath(name: string): string {
  return lockPath(name, process.getuid?.());
}

function lockPath(name: string, uid: number | undefined): string {
  return `\0kubenode-${uid ?? ''}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

export async function withLock<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(name, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function tryLock(path: string): Promise<Lock | undefined> {
  const waiters = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    waiters.add(socket);
    socket.on('error', () => waiters.delete(socket));
    socket.on('close', () => waiters.delete(socket));
    socket.write(`pid ${process.pid}\n`);
  });
  if (!(await tryListen(server, path))) return undefined;
  return {
    async release() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of waiters) socket.destroy();
      await closed;
    },
  };
}

async function tryListen(server: Server, path: string): Promise<boolean> {
  try {
    server.listen({ path });
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') return false;
    throw error;
  }
}

/**
 * Resolves when the connection to the holder closes: it released the lock or ended. A connection error means the
 * same. In every case the caller tries again.
 */
function holderReleased(
  path: string,
  signal: AbortSignal | undefined,
  onHolder: (holder: string) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const abort = (): void => void socket.destroy();
    signal?.addEventListener('abort', abort);
    socket.once('data', (data: Buffer) => onHolder(data.toString().trim()));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
  });
}
