import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { judgeServing } from '../../../src/agent/host/grpc-probe.ts';
import type { ProbeAnswer } from '../../../src/agent/host/port.ts';
import { probeNetwork } from '../../../src/agent/host/probe.ts';
import { tempFolder } from '../../support/temp.ts';

const COMMON = { name: 'p', periodSeconds: 1, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 1 };
const SERVING = Buffer.from([0, 0, 0, 0, 2, 8, 1]);
const NOT_SERVING = Buffer.from([0, 0, 0, 0, 2, 8, 2]);
const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const open: (Http2Server | Server)[] = [];

afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function probeOf(server: Http2Server | Server, service = ''): Promise<ProbeAnswer> {
  open.push(server);
  const path = join(tempFolder(), 'grpc.sock');
  const listening = Promise.withResolvers<void>();
  server.listen(path, listening.resolve);
  await listening.promise;
  return await probeNetwork({ ...COMMON, grpc: { path, service } }, new Map());
}

/** As a server of gRPC answers: a message, and the status behind it. */
function health(answer: Buffer, requests: string[] = []): Http2Server {
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      requests.push(`${headers[':path']} ${Buffer.concat(pieces).toString('hex')}`);
      stream.respond(GRPC, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(answer);
    });
  });
  return server;
}

function refusal(status: string): Http2Server {
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ...GRPC, 'grpc-status': status }, { endStream: true });
  });
  return server;
}

describe('probeGrpc', () => {
  it('AGT-20 passes when the server answers that it is serving', async () => {
    const requests: string[] = [];
    const expected = { passed: true, detail: 'the server is serving' };
    expect(await probeOf(health(SERVING, requests))).toEqual(expected);
    expect(requests).toEqual(['/grpc.health.v1.Health/Check 0000000000']);
  });

  it('AGT-20 asks for one service by its name', async () => {
    const requests: string[] = [];
    const expected = { passed: true, detail: 'service ab is serving' };
    expect(await probeOf(health(SERVING, requests), 'ab')).toEqual(expected);
    expect(requests).toEqual(['/grpc.health.v1.Health/Check 00000000040a026162']);
  });

  it.each<[what: string, server: () => Http2Server | Server, detail: string]>([
    ['is not serving', () => health(NOT_SERVING), 'the server is not serving'],
    ['answers nothing', () => health(Buffer.alloc(0)), 'the server is not serving'],
    ['has no health service', () => refusal('12'), 'the server has no health service (grpc.health.v1)'],
    ['refuses the caller', () => refusal('16'), 'gRPC status 16'],
    ['hangs, and accepts connections', () => createTcpServer(() => undefined), 'no answer in time'],
  ])('AGT-20 fails when the server %s', async (_what, server, detail) => {
    expect(await probeOf(server())).toEqual({ passed: false, detail });
  });

  it('AGT-20 fails when nothing listens', async () => {
    const path = join(tempFolder(), 'none.sock');
    const found = await probeNetwork({ ...COMMON, grpc: { path, service: '' } }, new Map());
    expect(found).toEqual({ passed: false, detail: 'ENOENT' });
  });
});

describe('judgeServing', () => {
  it('fails a service that is not known, by its name', () => {
    const expected = { passed: false, detail: 'service ab is not known' };
    expect(judgeServing('5', Buffer.alloc(0), 'ab')).toEqual(expected);
  });
});
