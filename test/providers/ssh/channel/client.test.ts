import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OpenClient, openClient } from '../../../../src/providers/ssh/channel/client.ts';

describe('openClient', () => {
  it('names a server that closes the connection', async () => {
    const port = await serve((socket) => socket.end());
    await expect(open(port)).rejects.toMatchObject({
      code: 'HandshakeFailed',
      where: `admin@127.0.0.1:${port}`,
    });
  });

  it('names a server that does not speak SSH', async () => {
    const port = await serve((socket) => socket.end(`HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(9000)}\n`));
    await expect(open(port)).rejects.toMatchObject({ code: 'HandshakeFailed' });
  });

  it('connects to nothing when it is stopped already', async () => {
    let connections = 0;
    const port = await serve(() => {
      connections += 1;
    });
    await expect(open(port, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(connections).toBe(0);
  });
});

async function serve(answer: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    answer(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function open(port: number, signal = new AbortController().signal): Promise<OpenClient> {
  return openClient({
    target: { address: '127.0.0.1', port, user: 'admin' },
    credentials: {},
    algorithms: ['ssh-ed25519'],
    refusalReason: () => undefined,
    signal,
  });
}
