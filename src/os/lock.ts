/**
 * One at a time, over all processes of this machine. The lock is a listening socket in Linux's abstract namespace:
 * the kernel gives it to one process only, and takes it back at the very moment that process ends, however it ends.
 * So there is no stale lock, and nothing to clean up. Whoever waits is connected to the holder, and wakes when it goes.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { systemCode } from './errors.ts';

export interface LockOptions {
  /** Called when somebody else holds it, before the wait. */
  readonly waiting?: (holder: string) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface Lock {
  release(): Promise<void>;
}

/** `what` is any text that all who want this lock agree on: the folder that it guards. */
export async function acquireLock(what: string, options: LockOptions = {}): Promise<Lock> {
  const path = `\0kubenode-${process.getuid?.() ?? ''}-${createHash('sha256').update(what).digest('hex').slice(0, 32)}`;
  let told = false;
  for (;;) {
    options.signal?.throwIfAborted();
    const lock = await tryLock(path);
    if (lock) return lock;
    await holderGone(path, options.signal, (holder) => {
      if (!told) options.waiting?.(holder);
      told = true;
    });
  }
}

export async function withLock<T>(what: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(what, options);
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
  if (!(await listens(server, path))) return undefined;
  return {
    async release() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of waiters) socket.destroy();
      await closed;
    },
  };
}

async function listens(server: Server, path: string): Promise<boolean> {
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
 * Resolves when the connection to the holder ends: it has released the lock, or is no more. An error says the same:
 * gone before we were connected, or while it ended. All of them mean that it is worth another try.
 */
function holderGone(
  path: string,
  signal: AbortSignal | undefined,
  tell: (holder: string) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const abort = (): void => void socket.destroy();
    signal?.addEventListener('abort', abort);
    socket.once('data', (data: Buffer) => tell(data.toString().trim()));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
  });
}
