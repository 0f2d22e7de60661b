/** Passes on what a client sends to its server, and stops or breaks the connection after some bytes of the client. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SlowProxy {
  readonly port: number;
  /** From now on, of all connections together. */
  after(bytes: number, what: 'Pause' | 'Break'): void;
  /** Resolves when it has paused or broken a connection. */
  reached(): Promise<void>;
  close(): Promise<void>;
}

export async function startSlowProxy(target: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  let left = Infinity;
  let then: 'Pause' | 'Break' = 'Pause';
  let limit = Promise.withResolvers<void>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
    upstream.pipe(client);
    client.on('data', (part: Buffer) => {
      left -= part.length;
      if (left > 0) {
        if (!upstream.write(part)) {
          client.pause();
          upstream.once('drain', () => client.resume());
        }
        return;
      }
      limit.resolve();
      if (then === 'Break') client.destroy();
      else client.pause();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    after(bytes, what) {
      left = bytes;
      then = what;
      limit = Promise.withResolvers();
    },
    reached: () => limit.promise,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
