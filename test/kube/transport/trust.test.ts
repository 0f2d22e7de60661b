/** One contract for both transports: trusted authorities, credentials, and changes of their files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../src/local/pki/certificate.ts';
import {
  authority,
  clientPair,
  expiredPair,
  serverPair,
  startTlsServer,
} from '../../support/kube/tls-server.ts';
import {
  clock,
  failing,
  filesFor,
  firstOf,
  GET,
  opener,
  TRANSPORTS,
} from '../../support/kube/transport-bed.ts';
import { tempFolder } from '../../support/temp.ts';

describe.each(TRANSPORTS)('%s transport', (_, transportOf) => {
  const open = opener(transportOf);

  describe('trust', () => {
    it('rejects an unknown authority, with an explanation', async () => {
      const other = createAuthority('kubernetes', clock.now(), 1);
      const server = await startTlsServer({ pair: serverPair(other) });
      const { error } = await failing(open(server.url));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('signed by an authority that is not trusted');
    });

    it('rejects an expired certificate, with an explanation', async () => {
      const server = await startTlsServer({ pair: expiredPair() });
      const { error } = await failing(open(server.url));
      expect(error).toMatchObject({ code: 'Unreachable', reason: 'CERT_HAS_EXPIRED' });
      expect(error.message).toContain('has expired');
    });

    it('rejects another name, unless tls-server-name is set', async () => {
      const server = await startTlsServer({ pair: serverPair(authority, ['kubernetes.default']) });
      const { error } = await failing(open(server.url));
      expect(error.message).toContain('for another name');
      const named = open(server.url, { servername: 'kubernetes.default' });
      expect((await named.request(GET)).status).toBe(200);
    });

    it('accepts any certificate when insecure', async () => {
      const server = await startTlsServer({ pair: expiredPair() });
      expect((await open(server.url, { insecure: true }).request(GET)).status).toBe(200);
    });
  });

  describe('a changed file', () => {
    it('of a client certificate: new calls use it, a watch continues with the old one', async () => {
      const server = await startTlsServer();
      server.answer((request, response) => {
        if (request.url?.includes('watch')) response.write('begun');
        else response.end('{}');
      });
      const files = filesFor(clientPair('first'));
      const transport = open(server.url, { certFile: files.cert, keyFile: files.key });
      await transport.request(GET);
      const watch = await transport.stream({ ...GET, query: { watch: '1' } });
      files.write(clientPair('second'));
      await transport.request(GET);
      expect(server.users).toEqual(['first', 'first', 'second']);
      expect(await firstOf(watch)).toBe('begun');
    });

    it('of a certificate without its key: the old pair stays in use', async () => {
      const server = await startTlsServer();
      const first = clientPair('first');
      const second = clientPair('second');
      const files = filesFor(first);
      const transport = open(server.url, { certFile: files.cert, keyFile: files.key });
      await transport.request(GET);
      files.write({ certPem: second.certPem, keyPem: first.keyPem });
      expect((await transport.request(GET)).status).toBe(200);
      files.write(second);
      await transport.request(GET);
      expect(server.users).toEqual(['first', 'second']);
    });

    it('of a CA: a server with the new one is trusted at once', async () => {
      const server = await startTlsServer();
      const caFile = join(tempFolder(), 'ca.crt');
      writeFileSync(caFile, authority.certPem);
      const transport = open(server.url, { caFile }, { checkEveryMs: 3_600_000 });
      await transport.request(GET);

      const next = createAuthority('kubernetes', clock.now(), 1);
      server.present(serverPair(next));
      // A call on a connection that the server just closed may fail before the handshake is tried.
      let { error } = await failing(transport);
      const closed = ['ECONNRESET', 'UND_ERR_SOCKET'].includes(error.reason ?? '');
      if (closed) ({ error } = await failing(transport));
      expect(error.message).toContain('not trusted');
      writeFileSync(caFile, next.certPem);
      expect((await transport.request(GET)).status).toBe(200);
    });

    it('of a token: the next call uses it', async () => {
      const server = await startTlsServer();
      const tokens: unknown[] = [];
      server.answer((request, response) => {
        tokens.push(request.headers.authorization);
        response.end('{}');
      });
      const tokenFile = join(tempFolder(), 'token');
      writeFileSync(tokenFile, 'first\n');
      const transport = open(server.url, { tokenFile });
      await transport.request(GET);
      writeFileSync(tokenFile, 'second\n');
      await transport.request(GET);
      expect(tokens).toEqual(['Bearer first', 'Bearer second']);
    });

    it('of a token: a 401 causes an immediate check', async () => {
      const server = await startTlsServer();
      server.answer((request, response) => {
        response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end('{}');
      });
      const tokenFile = join(tempFolder(), 'token');
      writeFileSync(tokenFile, 'old');
      const transport = open(server.url, { tokenFile }, { checkEveryMs: 3_600_000 });
      await transport.request(GET);
      writeFileSync(tokenFile, 'new');
      expect((await transport.request(GET)).status).toBe(200);
    });

    it('that is missing: the error names the file and its origin', async () => {
      const { error } = await failing(open('https://127.0.0.1:1', { tokenFile: '/nowhere/token' }));
      expect(error.code).toBe('Credentials');
      expect(error.message).toBe('the credential file /nowhere/token does not exist (this test)');
    });
  });
});
