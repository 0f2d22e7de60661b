import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ProbeAnswer } from '../../../src/agent/host/port.ts';
import { probeNetwork } from '../../../src/agent/host/probe.ts';

const COMMON = { name: 'p', periodSeconds: 1, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 1 };
let server: Server | undefined;

afterEach(() => {
  server?.close();
});

/** The answer to a probe over HTTP when the server sends this text, byte by byte or at once. */
async function probeOf(answer: string, drip = false): Promise<ProbeAnswer> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (!drip) socket.write(answer);
    let sent = 0;
    const timer = setInterval(() => {
      if (drip) socket.write(answer[sent] ?? '');
      sent += 1;
    }, 20);
    socket.on('close', () => clearInterval(timer));
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  return await probeNetwork(
    { ...COMMON, http: { port: String(port), path: '/', scheme: 'HTTP' } },
    new Map(),
  );
}

describe('AGT-20 a probe over HTTP always ends', () => {
  it.each([
    ['passes a body without an end', 'HTTP/1.1 200 OK\r\n\r\nx', { passed: true, detail: 'answered 200' }],
    [
      'follows no redirect',
      'HTTP/1.1 302 Found\r\nLocation: http://10.255.255.1/\r\n\r\n',
      { passed: true, detail: 'answered 302' },
    ],
    [
      'fails for another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      { passed: false, detail: 'closed without an answer' },
    ],
    [
      'fails for a header without an end',
      `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(100_000)}`,
      { passed: false, detail: 'HPE_HEADER_OVERFLOW' },
    ],
    ['fails for what is not HTTP', 'SSH-2.0-OpenSSH\r\n', { passed: false, detail: 'HPE_INVALID_CONSTANT' }],
  ])('%s', async (_, answer, expected) => {
    expect(await probeOf(answer)).toEqual(expected);
  });

  it('fails when the header comes too slowly', async () => {
    const answer = `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(100)}`;
    expect(await probeOf(answer, true)).toEqual({ passed: false, detail: 'no answer in time' });
  });
});
