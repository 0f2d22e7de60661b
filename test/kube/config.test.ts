import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ConfigOptions, loadConfig } from '../../src/kube/config.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Identity } from '../../src/kube/credentials.ts';
import { isKubeError, type KubeError } from '../../src/kube/errors.ts';
import { systemClock } from '../../src/kube/system-clock.ts';
import { tempFolder } from '../support/temp.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { authority, clientPair, tlsServer } from './tls-server.ts';

const clock = systemClock();
const NO_ENV = { HOME: '/nowhere' };
const base64 = (plain: string): string => Buffer.from(plain).toString('base64');

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string;
}

/** One cluster c, one user u, one context a; JSON is YAML. */
function text({ cluster = {}, user = {}, context = {}, current = 'a' }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: [{ name: 'c', cluster: { server: 'https://c.example:6443', ...cluster } }],
    users: [{ name: 'u', user: { token: 't', ...user } }],
    contexts: [{ name: 'a', context: { cluster: 'c', user: 'u', ...context } }],
  });
}

function fileWith(content: string, name = 'config'): string {
  const file = join(tempFolder(), name);
  writeFileSync(file, content);
  return file;
}

async function identity(options: Partial<ConfigOptions>): Promise<Identity> {
  const { connection } = await loadConfig({ clock, env: NO_ENV, ...options });
  return connection.credentials.current();
}

async function failing(options: Partial<ConfigOptions>): Promise<KubeError> {
  const error: unknown = await identity(options).catch((caught: unknown) => caught);
  if (isKubeError(error)) return error;
  throw new Error('expected a KubeError', { cause: error });
}

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

  describe('exec plug-ins', () => {
    it('give tokens, which are remembered until they expire or the server refuses them', async () => {
      const { kubeconfig, runs } = plugin(
        credential({ token: 'from-plugin', expirationTimestamp: '2999-01-01T00:00:00Z' }),
      );
      const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
      const [one, two] = await Promise.all([credentials.current(), credentials.current()]);
      expect([one.headers, two.headers, runs()]).toEqual([
        { authorization: 'Bearer from-plugin' },
        { authorization: 'Bearer from-plugin' },
        1,
      ]);
      await credentials.current();
      expect(runs()).toBe(1);
      credentials.forget();
      await credentials.current();
      expect(runs()).toBe(2);
    });

    it('are not run again because the server is down', async () => {
      const { kubeconfig, runs } = plugin(credential({ token: 'from-plugin' }), 'https://127.0.0.1:1');
      const client = await connect({ kubeconfig, env: NO_ENV });
      for (let call = 0; call < 3; call += 1) {
        await expect(client.raw('/version')).rejects.toMatchObject({ code: 'Unreachable' });
      }
      expect(runs()).toBe(1);
      await client.close();
    });

    it('are run again when their token has expired', async () => {
      const { kubeconfig, runs } = plugin(
        credential({ token: 'old', expirationTimestamp: '2020-01-01T00:00:00Z' }),
      );
      const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
      await credentials.current();
      await credentials.current();
      expect(runs()).toBe(2);
    });

    it('give certificates, and the connections stay while they do not change', async () => {
      const { certPem, keyPem } = clientPair('from-plugin');
      const { kubeconfig } = plugin(credential({ clientCertificateData: certPem, clientKeyData: keyPem }));
      const { credentials } = (await loadConfig({ clock, env: NO_ENV, kubeconfig })).connection;
      const first = await credentials.current();
      expect(first.tls).toEqual({ cert: certPem, key: keyPem });
      credentials.forget();
      expect((await credentials.current()).tls).toBe(first.tls);
    });

    it('are told what they are run for', async () => {
      const { kubeconfig } = plugin(
        `printf '{"status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO $1" | base64 -w0)"`,
      );
      const { authorization } = (await identity({ kubeconfig })).headers;
      const told = Buffer.from(String(authorization).replace('Bearer ', ''), 'base64').toString();
      expect(told).toBe(
        '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}} token',
      );
    });

    it.each<[name: string, body: string, message: string]>([
      ['fail', 'echo "please log in" >&2; exit 3', 'failed: please log in'],
      ['fail without a word', 'exit 1', 'failed: it said nothing, or took too long'],
      ['say nonsense', 'echo hello', 'failed: Unexpected token'],
      ['say nothing', 'true', 'failed: Unexpected end of JSON input'],
      ['give nothing', credential({}), 'failed: it gave neither a token nor a certificate'],
      [
        'give a broken certificate',
        credential({ clientCertificateData: 'x', clientKeyData: 'y' }),
        'failed:',
      ],
      [
        'want to ask a person',
        'read answer && echo "$answer" || { echo "no terminal" >&2; exit 1; }',
        'failed: no terminal',
      ],
    ])('that %s are named', async (_, body, message) => {
      const { kubeconfig } = plugin(body);
      const error = await failing({ kubeconfig });
      expect(error.code).toBe('Credentials');
      expect(error.message).toContain(`the exec plug-in ./plugin ${message}`);
      expect(error.message).toContain(`(context a of ${kubeconfig})`);
    });

    it('that are not installed are named, with their own hint', async () => {
      const user = { token: undefined, exec: execOf({ command: 'no-such-plugin' }) };
      const error = await failing({ kubeconfig: fileWith(text({ user })) });
      expect(error.message).toContain(
        'the exec plug-in no-such-plugin is not installed here: get it at example.com',
      );
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

function execOf(more: object): object {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    args: ['token'],
    interactiveMode: 'Never',
    installHint: 'get it at example.com',
    ...more,
  };
}

function credential(status: object): string {
  return `cat <<'END'\n${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}\nEND`;
}

/** A plug-in that counts its runs and answers with this status; `body` may be any shell. */
function plugin(
  body: string,
  server = 'https://c.example:6443',
): { readonly kubeconfig: string; readonly runs: () => number } {
  const kubeconfig = fileWith(
    text({ cluster: { server }, user: { token: undefined, exec: execOf({ command: './plugin' }) } }),
  );
  const log = join(kubeconfig, '..', 'runs');
  writeFileSync(log, '');
  const script = join(kubeconfig, '..', 'plugin');
  writeFileSync(script, `#!/bin/sh\necho run >> ${log}\n${body}\n`);
  chmodSync(script, 0o755);
  return { kubeconfig, runs: () => readFileSync(log, 'utf8').split('\n').length - 1 };
}
