import { describe, expect, it } from 'vitest';
import { createHttpsFetch } from '../../../../src/console/login/oidc/https-fetch.ts';
import { authority, bodyOf, startTlsServer } from '../../../support/kube/tls-server.ts';

const fetchIt = createHttpsFetch(authority.certPem);

describe('createHttpsFetch', () => {
  it('sends a form, and returns status, type and body', async () => {
    const server = await startTlsServer();
    server.answer(async (request, response) => {
      const body = await bodyOf(request);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ method: request.method, body, accept: request.headers.accept }));
    });
    const body = new URLSearchParams({ a: 'b c' });
    const response = await fetchIt(server.url, { method: 'POST', headers: { accept: 'x/y' }, body });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/json']);
    expect(await response.json()).toEqual({ method: 'POST', body: 'a=b+c', accept: 'x/y' });
  });

  it('follows no redirect', async () => {
    const server = await startTlsServer();
    server.answer((_, response) => response.writeHead(302, { location: 'https://evil.example' }).end());
    expect((await fetchIt(server.url, { method: 'GET', headers: {} })).status).toBe(302);
  });

  it('CON-27 refuses a URL without TLS, a certificate of another authority, and an answer that is too long', async () => {
    await expect(fetchIt('http://127.0.0.1:1/', { method: 'GET', headers: {} })).rejects.toThrow(
      'without TLS',
    );
    const server = await startTlsServer();
    await expect(createHttpsFetch(undefined)(server.url, { method: 'GET', headers: {} })).rejects.toThrow(
      'certificate',
    );
    server.answer((_, response) => response.end('x'.repeat(2 * 1024 * 1024)));
    await expect(fetchIt(server.url, { method: 'GET', headers: {} })).rejects.toThrow('too long');
  });

  it('ends a request with its signal', async () => {
    const server = await startTlsServer();
    const stop = new AbortController();
    server.answer(() => stop.abort());
    await expect(fetchIt(server.url, { method: 'GET', headers: {}, signal: stop.signal })).rejects.toThrow(
      'aborted',
    );
  });
});
