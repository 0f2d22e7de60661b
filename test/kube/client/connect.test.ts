import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/kube/client/connect.ts';
import { base64, text } from '../../support/kube/config-bed.ts';
import { authority, startTlsServer } from '../../support/kube/tls-server.ts';

describe('connect', () => {
  it('creates a client whose errors name the server', async () => {
    const server = await startTlsServer();
    server.answer((request, response) => response.writeHead(404).end(`nothing at ${request.url}`));
    const cluster = { server: server.url, 'certificate-authority-data': base64(authority.certPem) };
    const client = await connect({ kubeconfigText: text({ cluster }) });
    expect(client.server).toBe(server.url);
    await expect(client.raw('/version')).rejects.toThrow(`raw /version at ${server.url}: status 404`);
    await client.close();
  });

  it('impersonates another user', async () => {
    const server = await startTlsServer();
    server.answer((request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(request.headers['impersonate-user'])),
    );
    const cluster = { server: server.url, 'certificate-authority-data': base64(authority.certPem) };
    const client = await connect({ kubeconfigText: text({ cluster }), impersonate: { user: 'jane' } });
    expect(await client.raw('/whoami')).toBe('jane');
    await client.close();
  });
});
