import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createAuthority, issueCertificate } from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type HostAnswer, sendToGitHost } from '../../../src/sync/report/send.ts';

const clock = createSystemClock();

async function portOf(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function send(url: string, options: { ca?: string; signal?: AbortSignal } = {}): Promise<HostAnswer> {
  const { signal = new AbortController().signal, ...others } = options;
  const request = { method: 'POST', url, headers: { authorization: 'token t' }, body: '{"a":"é"}' } as const;
  return await sendToGitHost(request, { clock, signal, ...others });
}

it('S26 sends the whole body and reads the answer, also one that is an error', async () => {
  const answer = await send(`http://127.0.0.1:${await portOf(createServer(echo))}/x`);
  expect(answer).toMatchObject({ status: 422, body: 'POST token t {"a":"é"}' });
  expect(answer.headers['retry-after']).toBe('3');
});

it('S26 reads 256 KiB of an answer that never ends', async () => {
  const server = createServer((_, response) => {
    const piece = Buffer.alloc(65_536, 'x');
    // Not in the callback of the write before: the client runs in this process, too.
    const write = (): void => void (response.destroyed || response.write(piece, () => setImmediate(write)));
    write();
  });
  const { body } = await send(`http://127.0.0.1:${await portOf(server)}/x`);
  expect(body).toHaveLength(262_144);
});

it('S26 gives up when the signal is aborted, and when the connection breaks', async () => {
  const server = createServer((_, response) => void response.destroy());
  const url = `http://127.0.0.1:${await portOf(server)}/x`;
  await expect(send(url)).rejects.toThrow('socket hang up');
  const signal = AbortSignal.abort(new Error('the repository was closed'));
  await expect(send(url, { signal })).rejects.toThrow('the repository was closed');
});

it('S26 trusts the authority of the Pipeline, and no unknown one', async () => {
  const authority = createAuthority('test', clock.now(), 1);
  const { certPem, keyPem } = issueCertificate(authority, {
    subject: { commonName: 'git' },
    usage: 'server',
    names: ['127.0.0.1'],
    now: clock.now(),
    seconds: 86_400,
  });
  const server = createTlsServer({ cert: certPem, key: keyPem }, (_, response) => void response.end('{}'));
  const url = `https://127.0.0.1:${await portOf(server)}/x`;
  await expect(send(url)).rejects.toThrow('unable to verify the first certificate');
  expect(await send(url, { ca: authority.certPem })).toMatchObject({ status: 200, body: '{}' });
});

function echo(request: IncomingMessage, response: ServerResponse): void {
  request.on('data', (body: Buffer) => {
    const { method, headers } = request;
    response.writeHead(422, { 'retry-after': '3' });
    response.end([method, headers.authorization, body.toString()].join(' '));
  });
}
