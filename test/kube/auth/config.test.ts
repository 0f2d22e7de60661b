import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import { base64, clock, failing, fileWith, identity, NO_ENV, text } from '../../support/kube/config-bed.ts';
import { authority, clientPair } from '../../support/kube/tls-server.ts';
import { tempFolder } from '../../support/temp.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('loadConfig', () => {
  describe('the source', () => {
    it('is the given file before all others', async () => {
      const kubeconfig = fileWith(text({ context: { namespace: 'x' } }));
      const env = { KUBECONFIG: '/nowhere/else' };
      const { connection, origin, namespace } = await loadConfig({ clock, env, kubeconfig });
      expect([connection.server, origin, namespace]).toEqual([
        'https://c.example:6443',
        `context a of ${kubeconfig}`,
        'x',
      ]);
    });

    it('is $KUBECONFIG with all its existing files, in order', async () => {
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

    it('ROL-53 is another server of the same cluster, with the same credentials', async () => {
      const kubeconfig = fileWith(text());
      const endpoint = { url: 'https://10.0.0.2:6443', servername: 'kubernetes.default.svc' };
      const before = await loadConfig({ clock, env: NO_ENV, kubeconfig });
      const { connection } = await loadConfig({ clock, env: NO_ENV, kubeconfig, endpoint });
      expect(connection.server).toBe('https://10.0.0.2:6443');
      const [at, from] = await Promise.all([
        connection.credentials.current(),
        before.connection.credentials.current(),
      ]);
      expect(at).toEqual({ ...from, tls: { ...from.tls, servername: 'kubernetes.default.svc' } });
    });

    it('is ~/.kube/config by default', async () => {
      const home = tempFolder();
      mkdirSync(join(home, '.kube'));
      writeFileSync(join(home, '.kube', 'config'), text());
      expect((await loadConfig({ clock, env: { HOME: home } })).connection.server).toBe(
        'https://c.example:6443',
      );
    });

    it('is the service account in a pod, with token renewal', async () => {
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

    it('is in another folder of the pod, if a variable names one', async () => {
      const folder = tempFolder();
      writeFileSync(join(folder, 'ca.crt'), authority.certPem);
      writeFileSync(join(folder, 'token'), 'mounted elsewhere');
      const env = {
        ...NO_ENV,
        KUBERNETES_SERVICE_HOST: '10.0.0.1',
        KUBERNETES_SERVICE_PORT: '443',
        KUBENODE_SERVICE_ACCOUNT_FOLDER: folder,
      };
      const { connection } = await loadConfig({ clock, env });
      const { headers } = await connection.credentials.current();
      expect(headers).toEqual({ authorization: 'Bearer mounted elsewhere' });
    });

    it('is named in the error when none is found', async () => {
      expect(await failing({})).toMatchObject({
        code: 'Config',
        message:
          'no kubeconfig found in $KUBECONFIG, ~/.kube/config and the service account of a pod. Name one with --kubeconfig',
      });
    });
  });

  describe('an error names file, context and hint for', () => {
    it.each<[name: string, content: string, context: string | undefined, message: string]>([
      ['an empty file', '', undefined, 'FILE is not a kubeconfig: it is empty'],
      ['a list', '[1]', undefined, 'FILE is not a kubeconfig: expected a mapping'],
      ['broken YAML', 'a: [', undefined, 'FILE is not valid YAML: Flow sequence in block collection must be'],
      ['a key twice', 'users: []\nusers: []', undefined, 'FILE is not valid YAML: Map keys must be unique'],
      [
        'no current context',
        text({ current: '' }),
        undefined,
        'FILE has no current-context. Name one with --context: a',
      ],
      ['an unknown context', text(), 'b', 'FILE has no context b, only: a'],
      ['an unknown current context', text({ current: 'x' }), undefined, 'FILE has no context x, only: a'],
      ['no contexts', 'clusters: []', 'b', 'FILE has no context b, only: none'],
      [
        'an unknown cluster',
        text({ context: { cluster: 'd' } }),
        undefined,
        'context a of FILE refers to the missing cluster d. The kubeconfig has: c',
      ],
      [
        'an unknown user',
        text({ context: { user: 'v' } }),
        undefined,
        'context a of FILE refers to the missing user v. The kubeconfig has: u',
      ],
      [
        'a cluster without server',
        text({ cluster: { server: undefined } }),
        undefined,
        'FILE is not a valid kubeconfig: clusters[0].cluster.server is missing',
      ],
      [
        'a server that is not a URL',
        text({ cluster: { server: 'c.example:6443' } }),
        undefined,
        'cluster c (context a of FILE) has an invalid server: expected https://host:port, got c.example:6443',
      ],
      [
        'SAF-11 a password in the server',
        text({ cluster: { server: 'https://ann:s3cret@c.example:6443' } }),
        undefined,
        'cluster c (context a of FILE) has a server with a user or password: expected https://host:port. Put credentials into the user of the kubeconfig',
      ],
      [
        'SAF-11 a token as the user of the server',
        text({ cluster: { server: 'https://s3cret@c.example:6443', 'proxy-url': 'http://p:1' } }),
        undefined,
        'cluster c (context a of FILE) has a server with a user or password: expected https://host:port. Put credentials into the user of the kubeconfig',
      ],
      [
        'SAF-11 a token in the query of the server',
        text({ cluster: { server: 'https://c.example:6443/?token=s3cret' } }),
        undefined,
        'cluster c (context a of FILE) has a server with a query: expected https://host:port. Put credentials into the user of the kubeconfig',
      ],
      [
        'SAF-11 a password in a server that is not a URL',
        text({ cluster: { server: 's3cret@c.example' } }),
        undefined,
        'cluster c (context a of FILE) has an invalid server: expected https://host:port',
      ],
      [
        'a proxy',
        text({ cluster: { 'proxy-url': 'http://p:1' } }),
        undefined,
        'cluster c (context a of FILE) has a proxy-url, which kubenode does not support. Make https://c.example:6443 directly reachable',
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
        'a CA without a certificate',
        text({ cluster: { 'certificate-authority-data': base64('nonsense') } }),
        undefined,
        'cannot read the credentials: certificate-authority contains no PEM certificate (context a of FILE)',
      ],
      [
        'an old auth-provider',
        text({ user: { token: undefined, 'auth-provider': { name: 'gcp' } } }),
        undefined,
        'no credentials from the auth-provider: auth-provider gcp was removed from Kubernetes: use an exec plug-in (context a of FILE)',
      ],
    ])('%s', async (_, content, context, message) => {
      const kubeconfig = fileWith(content);
      const error = await failing({ kubeconfig, ...(context ? { context } : {}) });
      expect(['Config', 'Credentials']).toContain(error.code);
      expect(error.message.replaceAll(kubeconfig, 'FILE')).toContain(message);
    });

    it('a missing file', async () => {
      expect(await failing({ kubeconfig: '/nowhere/config' })).toMatchObject({
        code: 'Config',
        message:
          'cannot read kubeconfig /nowhere/config: the file does not exist. Name another with --kubeconfig',
      });
    });

    it('an invalid file, without its content', async () => {
      const error = await failing({ kubeconfigText: 'users: [{name: u, user: {token: hunter2' });
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2');
    });

    it('a certificate with the wrong key', async () => {
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

  describe('the identity', () => {
    it.each<[name: string, user: object, headers: object]>([
      ['token', { token: 'secret' }, { authorization: 'Bearer secret' }],
      [
        'user and password',
        { token: undefined, username: 'me', password: 'pass' },
        { authorization: `Basic ${base64('me:pass')}` },
      ],
      ['none', { token: undefined }, {}],
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

    it('impersonates the user of the caller before that of the kubeconfig', async () => {
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

    it('may be empty, when the context has no user', async () => {
      expect((await identity({ kubeconfigText: text({ context: { user: undefined } }) })).headers).toEqual(
        {},
      );
    });

    it('has certificates from texts and from files next to the kubeconfig', async () => {
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

    it('skips verification with insecure-skip-tls-verify', async () => {
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

  describe('an untrusted text', () => {
    it.each<[string, object, object]>([
      ['a CA file', { 'certificate-authority': '/etc/ca.crt' }, {}],
      ['a client certificate file', {}, { 'client-certificate': '/etc/a.crt' }],
      ['a key file', {}, { 'client-key': '/etc/a.key' }],
      ['a token file', {}, { tokenFile: '/etc/token' }],
      ['a program', {}, { exec: { command: 'sh', apiVersion: 'client.authentication.k8s.io/v1' } }],
      ['an auth-provider', {}, { 'auth-provider': { name: 'oidc' } }],
    ])('must not name %s', async (_, cluster, user) => {
      const error = await failing({ kubeconfigText: text({ cluster, user }) });
      expect(error.code).toBe('Config');
      expect(error.message).toMatch(/inline its content|only in a kubeconfig file of this machine/);
    });
  });
});
