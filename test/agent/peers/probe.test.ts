import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { probeKubelet } from '../../../src/agent/peers/probe.ts';
import { startTlsServer } from '../../support/kube/tls-server.ts';

/** Prints its port. The kernel completes two connections for it, and drops the packets of more: a process that is stopped accepts none. */
const LISTENER =
  "const s = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))";

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Returns a port whose host drops the packets of a connection, as a host without a kernel does. */
async function blackhole(): Promise<number> {
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  child.kill('SIGSTOP');
  for (let count = 0; count < 2; count += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    await once(socket, 'connect'); // oxlint-disable-line no-await-in-loop -- one fills the queue after the other
  }
  return port;
}

const probe = (port: number, timeoutMs = 20_000, address = '127.0.0.1') =>
  probeKubelet({ address, port }, timeoutMs);

describe('a probe of the kubelet of another host', () => {
  it.each([200, 401, 500])('R20 is answered by a kubelet that answers %i', async (status) => {
    const kubelet = await startTlsServer();
    const received: string[] = [];
    kubelet.answer((request, response) => {
      received.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'anonymous'}`);
      response.writeHead(status).end('ok');
    });
    expect(await probe(kubelet.port)).toBe('KubeletAnswers');
    expect(received).toEqual(['GET /healthz anonymous']);
    expect(kubelet.handshakes()).toBe(1);
  });

  it('R20 follows no redirect of a kubelet to another address', async () => {
    const [kubelet, other] = [await startTlsServer(), await startTlsServer()];
    kubelet.answer((_, response) => response.writeHead(302, { location: other.url }).end());
    expect(await probe(kubelet.port)).toBe('KubeletAnswers');
    expect(other.handshakes()).toBe(0);
  });

  it('R20 finds the port open where nothing answers, and ends in time', async () => {
    expect(await probe(await listen(createServer()), 300)).toBe('PortOpen');
  });

  it.each<[what: string, answer: (socket: Socket) => void]>([
    ['a connection that is closed', (socket) => socket.end()],
    ['a connection that is reset', (socket) => socket.resetAndDestroy()],
    ['another protocol', (socket) => socket.write('SSH-2.0-OpenSSH\r\n')],
  ])('R20 finds the port open that answers with %s', async (_, answer) => {
    expect(await probe(await listen(createServer(answer)))).toBe('PortOpen');
  });

  it('R20 is refused by a host on which no kubelet listens', async () => {
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    expect(await probe(port)).toBe('Refused');
  });

  it('R20 gets no answer of a host that drops packets, and ends in time', async () => {
    expect(await probe(await blackhole(), 300)).toBe('NoAnswer');
  });

  it('R20 does not know what it could not try: there is no host of all', async () => {
    expect(await probe(10_250, 20_000, '255.255.255.255')).toBe('Unknown');
  });

  it('R20 looks no name up', async () => {
    const kubelet = await startTlsServer();
    expect(await probe(kubelet.port, 20_000, 'localhost')).toBe('Unknown');
    expect(kubelet.handshakes()).toBe(0);
  });
});
