import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { base64, clock, failing, fileWith, identity, NO_ENV, text } from '../../support/kube/config-bed.ts';
import { authority, clientPair, tlsServer } from '../../support/kube/tls-server.ts';
import { tempFolder } from '../../support/temp.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('loadConfig', () => {
  describe('where it looks', () => {
    it('takes the file that is named before all others', async () => {
      const kubeconfig = fileWith(text({ context: { namespace: 'x' } }));
      const env = { KUBECONFIG: '/nowhere/else' };
      const { connection, origin, namespace } = await loadConfig({ clock, env, kubeconfig });
      expect([connection.server, origin, namespace]).toEqual([
        'https://c.example:6443',
        `context a of ${kubeconfig}`,
        'x',
      ]);
    });

    it('takes $KUBECONFIG, all of its files, the first one first, passing over those that are missing', async () => {
      const first = fileWith(text({ current: 'a' }));
      const second = fileWith(
        JSON.stringify({
          'current-context': 'b',
          clusters: [
            { name: 'c', cluster: { server: 'https://other:1' } },
            { name: 'd', cluster: { server: 'https://d:1' } },
          ],
          users: [{ name: 'v', user: { token: 'v' } }],
          contexts: [{ name: 'b', context: { cluster: 'd', user: 'v' } }],
        }),
      );
      const env = { KUBECONFIG: ['/nowhere/config', first, second].join(':') };
      expect((await loadConfig({ clock, env })).connection.server).toBe('https://c.example:6443');
      const other = await loadConfig({ clock, env, context: 'b' });
      expect([other.connection.server, other.origin]).toEqual(['https://d:1', `context b of ${second}`]);
    });

    it('takes ~/.kube/config', async () => {
      const home = tempFolder();
      mkdirSync(join(home, '.kube'));
      writeFileSync(join(home, '.kube', 'config'), text());
      expect((await loadConfig({ clock, env: { HOME: home } })).connection.server).toBe(
        'https://c.example:6443',
      );
    });

    it('takes the service account of its pod, and notices a new token', async () => {
      const serviceAccountFolder = tempFolder();
      writeFileSync(join(serviceAccountFolder, 'ca.crt'), authority.certPem);
      writeFileSync(join(serviceAccountFolder, 'token'), 'first');
      const env = { ...NO_ENV, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
      const time = virtualClock();
      const { connection, origin } = await loadConfig({ clock: time, env, serviceAccountFolder });
      expect([connection.server, origin]).toEqual([
        'https://[fd00::1]:443',
        `the service account in ${serviceAccountFolder}`,
      ]);
      const before = await connection.credentials.current();
      expect(before).toEqual({ tls: { ca: authority.certPem }, headers: { authorization: 'Bearer first' } });

      writeFileSync(join(serviceAccountFolder, 'token'), 'second');
      expect((await connection.credentials.current()).headers).toEqual({ authorization: 'Bearer first' });
      await time.advance(10_000);
      const after = await connection.credentials.current();
      expect(after.headers).toEqual({ authorization: 'Bearer second' });
      expect(after.tls).toBe(before.tls);
    });

    it('says where it looked', async () => {
      expect(await failing({})).toMatchObject({
        code: 'Config',
        message:
          'no kubeconfig found (looked at $KUBECONFIG, ~/.kube/config and the service account of a pod): name one with --kubeconfig',
      });
    });
  });

  describe('what is wrong is said with file, context and way out', () => {
    it.each<[name: string, content: string, context: string | undefined, message: string]>([
      ['an empty file', '', undefined, 'FILE is no kubeconfig: it is empty'],
      ['no mapping', '[1]', undefined, 'FILE is no kubeconfig: it is no mapping'],
      ['broken YAML', 'a: [', undefined, 'FILE is no valid YAML: Flow sequence in block collection must be'],
      ['a key twice', 'users: []\nusers: []', undefined, 'FILE is no valid YAML: Map keys must be unique'],
      [
        'no current context',
        text({ current: '' }),
        undefined,
        'FILE has no current-context: name one with --context (a)',
      ],
      ['an unknown context', text(), 'b', 'FILE has no context b: it has a'],
      ['an unknown current context', text({ current: 'x' }), undefined, 'FILE has no context x: it has a'],
      ['no contexts', 'clusters: []', 'b', 'FILE has no context b: it has none'],
      [
        'an unknown cluster',
        text({ context: { cluster: 'd' } }),
        undefined,
        'context a of FILE names the cluster d, which is not there: it has c',
      ],
      [
        'an unknown user',
        text({ context: { user: 'v' } }),
        undefined,
        'context a of FILE names the user v, which is not there: it has u',
      ],
      [
        'a cluster without server',
        text({ cluster: { server: undefined } }),
        undefined,
        'FILE is no valid kubeconfig: clusters[0].cluster.server is missing',
      ],
      [
        'a server that is no URL',
        text({ cluster: { server: 'c.example:6443' } }),
        undefined,
        'cluster c (context a of FILE) has the server c.example:6443, which is no URL: write https://host:port',
      ],
      [
        'a proxy',
        text({ cluster: { 'proxy-url': 'http://p:1' } }),
        undefined,
        'cluster c (context a of FILE) has a proxy-url, which kubenode does not support: make https://c.example:6443 reachable directly',
      ],
      [
        'a missing CA file',
        text({ cluster: { 'certificate-authority': '/nowhere/ca.crt' } }),
        undefined,
        'the credential file /nowhere/ca.crt does not exist (context a of FILE)',
      ],
      [
        'a missing token file',
        text({ user: { token: undefined, tokenFile: '/nowhere/token' } }),
        undefined,
        'the credential file /nowhere/token does not exist (context a of FILE)',
      ],
      [
        'a CA that is none',
        text({ cluster: { 'certificate-authority-data': base64('nonsense') } }),
        undefined,
        'the credentials cannot be read: certificate-authority holds no PEM certificate (context a of FILE)',
      ],
      [
        'an old auth-provider',
        text({ user: { token: undefined, 'auth-provider': { name: 'gcp' } } }),
        undefined,
        'no credentials from the auth-provider: the auth-provider gcp was removed from Kubernetes: use an exec plug-in (context a of FILE)',
      ],
    ])('%s', async (_, content, context, message) => {
      const kubeconfig = fileWith(content);
      const error = await failing({ kubeconfig, ...(context ? { context } : {}) });
      expect(['Config', 'Credentials']).toContain(error.code);
      expect(error.message.replaceAll(kubeconfig, 'FILE')).toContain(message);
    });

    it('a file that is not there', async () => {
      expect(await failing({ kubeconfig: '/nowhere/config' })).toMatchObject({
        code: 'Config',
        message: 'the kubeconfig /nowhere/config does not exist: name another with --kubeconfig',
      });
    });

    it('never with a piece of the file, which holds keys', async () => {
      const error = await failing({ kubeconfigText: 'users: [{name: u, user: {token: hunter2' });
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2');
    });

    it('a certificate with the key of another one', async () => {
      const [one, other] = [clientPair('one'), clientPair('other')];
      const user = {
        'client-certificate-data': base64(one.certPem),
        'client-key-data': base64(other.keyPem),
      };
      expect((await failing({ kubeconfigText: text({ user }) })).message).toBe(
        'client certificate and key do not match (context a of the given kubeconfig)',
      );
    });
  });

  describe('who we are', () => {
    it.each<[name: string, user: object, headers: object]>([
      ['token', { token: 'secret' }, { authorization: 'Bearer secret' }],
      [
        'user and password',
        { token: undefined, username: 'me', password: 'pass' },
        { authorization: `Basic ${base64('me:pass')}` },
      ],
      ['nobody', { token: undefined }, {}],
      [
        'as another user',
        { as: 'jane', 'as-groups': ['dev', 'ops'], 'as-uid': '7', 'as-user-extra': { 'x.y/scope': ['a'] } },
        {
          authorization: 'Bearer t',
          'impersonate-user': 'jane',
          'impersonate-group': ['dev', 'ops'],
          'impersonate-uid': '7',
          'impersonate-extra-x.y%2Fscope': ['a'],
        },
      ],
    ])('%s', async (_, user, headers) => {
      expect((await identity({ kubeconfigText: text({ user }) })).headers).toEqual(headers);
    });

    it('whom the caller wants to be wins over the kubeconfig', async () => {
      const { headers } = await identity({
        kubeconfigText: text({ user: { as: 'jane', 'as-groups': ['dev'] } }),
        impersonate: { user: 'system:serviceaccount:a:b', groups: ['system:serviceaccounts'] },
      });
      expect(headers).toEqual({
        authorization: 'Bearer t',
        'impersonate-user': 'system:serviceaccount:a:b',
        'impersonate-group': ['system:serviceaccounts'],
      });
    });

    it('a context may name no user at all', async () => {
      expect((await identity({ kubeconfigText: text({ context: { user: undefined } }) })).headers).toEqual(
        {},
      );
    });

    it('certificates and trust, as text and as files beside the kubeconfig', async () => {
      const { certPem, keyPem } = clientPair('me');
      const inline = await identity({
        kubeconfigText: text({
          cluster: {
            'certificate-authority-data': base64(authority.certPem),
            'tls-server-name': 'kubernetes',
          },
          user: { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) },
        }),
      });
      const kubeconfig = fileWith(
        text({
          cluster: { 'certificate-authority': 'ca.crt', 'tls-server-name': 'kubernetes' },
          user: { 'client-certificate': 'me.crt', 'client-key': './me.key' },
        }),
      );
      writeFileSync(join(kubeconfig, '..', 'ca.crt'), authority.certPem);
      writeFileSync(join(kubeconfig, '..', 'me.crt'), certPem);
      writeFileSync(join(kubeconfig, '..', 'me.key'), keyPem);
      const tls = { ca: authority.certPem, cert: certPem, key: keyPem, servername: 'kubernetes' };
      expect([inline.tls, (await identity({ kubeconfig })).tls]).toEqual([tls, tls]);
    });

    it('insecure means insecure', async () => {
      const cluster = {
        'insecure-skip-tls-verify': true,
        'certificate-authority-data': base64(authority.certPem),
      };
      expect((await identity({ kubeconfigText: text({ cluster }) })).tls).toEqual({ insecure: true });
      expect(
        (await identity({ kubeconfigText: text({ cluster: { 'insecure-skip-tls-verify': 'true' } }) })).tls,
      ).toEqual({});
    });
  });

  describe('a text of somebody else', () => {
    it.each<[string, object, object]>([
      ['a CA file', { 'certificate-authority': '/etc/ca.crt' }, {}],
      ['a client certificate file', {}, { 'client-certificate': '/etc/a.crt' }],
      ['a key file', {}, { 'client-key': '/etc/a.key' }],
      ['a token file', {}, { tokenFile: '/etc/token' }],
      ['a program', {}, { exec: { command: 'sh', apiVersion: 'client.authentication.k8s.io/v1' } }],
      ['an auth-provider', {}, { 'auth-provider': { name: 'oidc' } }],
    ])('may not name %s of ours', async (_, cluster, user) => {
      const error = await failing({ kubeconfigText: text({ cluster, user }) });
      expect(error.code).toBe('Config');
      expect(error.message).toMatch(/inline its content|only a kubeconfig of this machine/);
    });
  });
});

describe('connect', () => {
  it('makes a client whose errors name the server', async () => {
    const server = await tlsServer();
    server.answer((request, response) => response.writeHead(404).end(`nothing at ${request.url}`));
    const cluster = { server: server.url, 'certificate-authority-data': base64(authority.certPem) };
    const client = await connect({ kubeconfigText: text({ cluster }) });
    expect(client.server).toBe(server.url);
    await expect(client.raw('/version')).rejects.toThrow(`raw /version at ${server.url}: status 404`);
    await client.close();
  });

  it('acts as somebody else when told to', async () => {
    const server = await tlsServer();
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
