import { describe, expect, it } from 'vitest';
import {
  MAX_LOGIN_CLUSTERS,
  parseLoginClusters,
} from '../../../../src/console/login/members/clusters-file.ts';
import { readKubeconfig } from '../../../../src/kube/auth/kubeconfig.ts';
import { authority } from '../../../support/kube/tls-server.ts';

const CA = Buffer.from(authority.certPem).toString('base64');
const server = 'https://10.0.0.7:6443';
const trusted = { server, 'certificate-authority-data': CA };

interface Parts {
  readonly cluster?: object;
  readonly context?: object;
  readonly users?: readonly object[];
  readonly more?: Readonly<Record<string, object>>;
}

/** A file with Cluster prod, changed by the parts. */
function fileWith({ cluster = {}, context = {}, users, more = {} }: Parts = {}): string {
  const clusters = { prod: { ...trusted, ...cluster }, ...more };
  return JSON.stringify({
    clusters: Object.entries(clusters).map(([name, entry]) => ({ name, cluster: entry })),
    contexts: Object.keys(clusters).map((name) => ({ name, context: { cluster: name, ...context } })),
    ...(users && { users }),
  });
}

const many = (count: number): string => {
  const others = Array.from({ length: count - 1 }, (_, index) => [
    `c-${index}`,
    { ...trusted, server: `https://c-${index}.example.com` },
  ]);
  return fileWith({ more: Object.fromEntries(others) as Record<string, object> });
};

function refusal(text: string, hubServer?: string): string {
  try {
    parseLoginClusters(text, 'clusters.yaml', hubServer);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('parseLoginClusters', () => {
  it('CON-33 accepts servers with their authorities, by the names of their Cluster objects', () => {
    const other = { ...trusted, server: 'https://test.example.com/clusters/a/' };
    expect(parseLoginClusters(fileWith({ more: { 'eu-1.test': other } }), 'clusters.yaml')).toEqual([
      { name: 'prod', server },
      { name: 'eu-1.test', server: 'https://test.example.com/clusters/a' },
    ]);
    expect(parseLoginClusters(many(MAX_LOGIN_CLUSTERS), 'clusters.yaml')).toHaveLength(8);
    const named = fileWith({ cluster: { 'tls-server-name': 'kubernetes' } });
    expect(parseLoginClusters(named, 'clusters.yaml')).toHaveLength(1);
  });

  it.each([
    [
      'a user with a token',
      { users: [{ name: 'me', user: { token: 'secret-1' } }] },
      'it has user me. Remove all users',
    ],
    [
      'a user with a program',
      { users: [{ name: 'me', user: { exec: { command: 'sh', apiVersion: 'v1' } } }] },
      'it has user me',
    ],
    [
      'a user with a certificate',
      { users: [{ name: 'me', user: { 'client-certificate': 'a.crt' } }] },
      'it has user me',
    ],
    ['a context with a user', { context: { user: 'me' } }, 'context prod names a user. Remove it'],
    [
      'a server that is not verified',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'insecure-skip-tls-verify. Remove it',
    ],
    [
      'a server without TLS',
      { cluster: { server: 'http://10.0.0.7' } },
      'context prod has a server without TLS, http://10.0.0.7',
    ],
    [
      'the authorities of the system',
      { cluster: { 'certificate-authority-data': undefined } },
      `no certificate-authority-data. Set it to the CA of ${server}`,
    ],
    [
      'an authority that cannot be read',
      { cluster: { 'certificate-authority-data': 'YQ==' } },
      'not a certificate in PEM',
    ],
    [
      'an authority in a file',
      { cluster: { 'certificate-authority': 'ca.crt' } },
      'cluster prod has a file as certificate-authority. Set certificate-authority-data',
    ],
    [
      'a proxy',
      { cluster: { 'proxy-url': 'https://proxy' } },
      'has a proxy-url, which kubenode does not support',
    ],
    [
      'a server with a password',
      { cluster: { server: 'https://a:secret-1@b' } },
      'has a server with a user or password',
    ],
    [
      'one server under two names',
      { more: { test: { ...trusted, server: `${server}/` } } },
      'context test has the server of context prod',
    ],
    [
      'one server in two spellings',
      { more: { test: { ...trusted, server: 'HTTPS://10.0.0.7:06443' } } },
      'context test has',
    ],
    [
      'a name that no Cluster has',
      { more: { 'a/b': { ...trusted, server: 'https://b' } } },
      'context a/b does not have the name of a Cluster',
    ],
  ] satisfies readonly (readonly [string, Parts, string])[])(
    'CON-33 refuses %s, with what has to change',
    (_, parts, message) => {
      const found = refusal(fileWith(parts));
      expect(found).toContain('the file of the clusters is not valid: ');
      expect(found).toContain(message);
      expect(found).not.toContain('secret-1');
    },
  );

  it.each([
    ['nothing', '', 'it is empty'],
    ['no contexts', fileWith().replace('"contexts"', '"others"'), 'it has no contexts. Add one'],
    [
      'a context without its cluster',
      fileWith().replace('"clusters"', '"others"'),
      'the missing cluster prod',
    ],
    ['too many clusters', many(MAX_LOGIN_CLUSTERS + 1), 'it has 9 contexts, and 8 is the limit'],
    ['no YAML', '{', 'is not valid YAML'],
  ])('CON-33 refuses a file with %s', (_, text, message) => {
    expect(refusal(text)).toContain(message);
  });

  it('CON-33 refuses an authority in a file also of a cluster without a context, and accepts only what a connection reads', () => {
    const config = JSON.parse(fileWith()) as { clusters: object[] };
    const unused = { server: 'https://old', 'certificate-authority': '/ca.crt' };
    config.clusters.push({ name: 'old', cluster: unused });
    expect(refusal(JSON.stringify(config))).toContain('cluster old has a file as certificate-authority');
    const accepted = fileWith({ more: { old: { ...trusted, server: 'https://old' } } });
    expect(refusal(accepted)).toBe('accepted');
    expect(readKubeconfig(accepted, { origin: 'a connection', trusted: false }).clusters).toHaveLength(2);
  });

  it('CON-33 refuses a context that is there twice, and the server of the console itself', () => {
    const twice = JSON.parse(fileWith()) as { contexts: object[] };
    twice.contexts.push(...twice.contexts);
    expect(refusal(JSON.stringify(twice))).toContain('context prod is there twice. Remove one');
    expect(refusal(fileWith(), `${server}/`)).toContain('context prod has the server of the console itself');
  });
});
