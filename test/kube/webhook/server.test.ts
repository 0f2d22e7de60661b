import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createConnection } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { HookAnswer, HookRequest, HookResult } from '../../../src/kube/webhook/request.ts';
import { type HookServer, MAX_BODY_BYTES, startHookServer } from '../../../src/kube/webhook/server.ts';
import { memoryLog } from '../../support/memory-log.ts';

const ACCEPTED: HookAnswer = { status: 202, text: 'the repository is read now', result: 'Accepted' };
const TOO_LARGE: HookAnswer = { status: 413, text: 'too large', result: 'Invalid' };

let server: HookServer | undefined;
afterEach(() => server?.close());

async function serve(
  handle: (request: HookRequest) => Promise<HookAnswer>,
  limits: { readonly maxBodyBytes?: number } = {},
): Promise<HookResult[]> {
  const counted: HookResult[] = [];
  server = await startHookServer({
    ...limits,
    intake: { handle },
    port: 0,
    host: '127.0.0.1',
    log: memoryLog(),
    count: (result) => counted.push(result),
  });
  return counted;
}

/** Answers 202 with the size of the body. */
async function sizes({ readBody }: HookRequest): Promise<HookAnswer> {
  const body = await readBody();
  return body ? { ...ACCEPTED, text: String(body.length) } : TOO_LARGE;
}

async function post(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(`${server?.url}/hooks/fleet?x=1`, { method: 'POST', body, headers });
  return `${answer.status} ${(await answer.text()).trim()}`;
}

describe('the webhook server', () => {
  it('hands method, path, headers and body to the intake, and counts the result', async () => {
    const requests: HookRequest[] = [];
    const counted = await serve(async (request) => {
      requests.push(request);
      return await sizes(request);
    });
    expect(await post('four', { 'x-github-event': 'push' })).toBe('202 4');
    expect(requests).toMatchObject([
      { method: 'POST', path: '/hooks/fleet', headers: { 'x-github-event': 'push' } },
    ]);
    expect(counted).toEqual(['Accepted']);
  });

  it('reads a body of one MiB and no larger one', async () => {
    await serve(sizes);
    expect(await post(Buffer.alloc(MAX_BODY_BYTES))).toBe(`202 ${MAX_BODY_BYTES}`);
    expect(await post(Buffer.alloc(MAX_BODY_BYTES + 1))).toBe('413 too large');
  });

  it('reads no larger body than its caller permits', async () => {
    await serve(sizes, { maxBodyBytes: 10 });
    expect(await post('1234567890')).toBe('202 10');
    expect(await post('12345678901')).toBe('413 too large');
  });

  it('refuses a body by the length that it announces, before it is sent', async () => {
    await serve(sizes);
    const { port } = new URL(server?.url ?? '');
    const socket = createConnection(Number(port), '127.0.0.1');
    const length = MAX_BODY_BYTES + 1;
    socket.write(`POST /hooks/fleet HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).toContain('413');
    socket.destroy();
  });

  it('stops reading a body of unknown length at one MiB, and closes the connection', async () => {
    await serve(sizes);
    const request = httpRequest(`${server?.url}/hooks/fleet`, { method: 'POST' });
    // The server may close the connection before everything is written.
    request.on('error', () => undefined);
    request.write(Buffer.alloc(MAX_BODY_BYTES));
    request.write(Buffer.alloc(MAX_BODY_BYTES));
    const [response] = (await once(request, 'response')) as [{ statusCode: number; headers: object }];
    expect([response.statusCode, response.headers]).toEqual([
      413,
      expect.objectContaining({ connection: 'close' }),
    ]);
    request.destroy();
  });

  it('reads sixteen bodies at a time, and asks the others at once to send it again', async () => {
    const counted = await serve(sizes);
    const { port } = new URL(server?.url ?? '');
    const head = 'POST /hooks/fleet HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n';
    const slow = Array.from({ length: 16 }, () => createConnection(Number(port), '127.0.0.1'));
    for (const socket of slow) socket.write(`${head}half`);
    await expect.poll(() => post('x')).toBe('429 too many requests: at most 16 at a time');
    expect(counted).toContain('Limited');
    const answers = slow.map((socket) => once(socket, 'data'));
    for (const socket of slow) socket.write('!');
    for (const [data] of await Promise.all(answers)) expect(String(data)).toContain('202');
    for (const socket of slow) socket.destroy();
    expect(await post('x')).toBe('202 1');
  });

  it('S25 ends a connection whose request does not come within seconds', async () => {
    await serve(sizes);
    const { port } = new URL(server?.url ?? '');
    const slow = createConnection(Number(port), '127.0.0.1');
    slow.write('POST /hooks/fleet HTTP/1.1\r\nhost: x\r\n');
    const [answer] = (await once(slow, 'data')) as [Buffer];
    expect(String(answer)).toContain('408 Request Timeout');
    await once(slow, 'close');
    expect(await post('x')).toBe('202 1');
  });

  it('answers 500 without the cause when the intake fails', async () => {
    const counted = await serve(async () => {
      throw new Error('a secret text');
    });
    expect(await post('x')).toBe('500 internal error');
    expect(counted).toEqual(['Unavailable']);
  });

  it('names the port that another program uses', async () => {
    await serve(sizes);
    const { port } = new URL(server?.url ?? '');
    const second = startHookServer({
      intake: { handle: sizes },
      port: Number(port),
      host: '127.0.0.1',
      log: memoryLog(),
      count: () => undefined,
    });
    await expect(second).rejects.toThrow(/webhooks.*port/);
  });
});
