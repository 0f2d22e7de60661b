import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../src/api/names.ts';
import { readSecret, type SecretDestination, secretVersion } from '../../../src/api/secrets/read.ts';
import type { SecretReference } from '../../../src/api/secrets/references.ts';
import { secretStore } from '../../support/secret-store.ts';
import { readSources } from '../../support/source.ts';

const GIT: SecretReference = { name: 'git', key: 'token', use: 'git', user: 'Pipeline fleet' };
const KUBECONFIG: SecretReference = {
  name: 'git',
  key: 'token',
  use: 'kubeconfig',
  user: 'Cluster prod',
};
const HOST: SecretDestination = { host: 'git.example.com' };

const SOURCES = [...readSources('src').values()];

function read(use: string | undefined, reference: SecretReference, destination: SecretDestination): string {
  const annotation = use === undefined ? {} : { use };
  const secrets = secretStore({ name: 'git', data: { token: 's3cret' }, ...annotation });
  try {
    return readSecret(secrets, reference, destination);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('readSecret', () => {
  it.each<[name: string, use: string, reference: SecretReference, destination: SecretDestination]>([
    ['for its use, when it is sent nowhere', 'kubeconfig', KUBECONFIG, 'nowhere'],
    ['for a host that it permits', 'git; git.example.com', GIT, HOST],
    ['for one of several hosts, however they are written', 'git ;a, GIT.example.com ,b:8443', GIT, HOST],
    ['for a port that it permits', 'git; a:8443', GIT, { host: 'a:8443' }],
  ])('decodes the value %s', (_, use, reference, destination) => {
    expect(read(use, reference, destination)).toBe('s3cret');
  });

  const command = `kubectl -n ${NAMESPACE} annotate`;
  it.each<
    [
      name: string,
      use: string | undefined,
      asked: readonly [SecretReference, SecretDestination],
      want: string,
    ]
  >([
    [
      'a Secret that permits nothing',
      undefined,
      [GIT, HOST],
      `does not permit Pipeline fleet to use it as a git credential for git.example.com. To permit it: ${command} secret git '${ANNOTATION_SECRET_USE}=git; git.example.com'`,
    ],
    [
      'a kubeconfig that permits nothing',
      undefined,
      [KUBECONFIG, 'nowhere'],
      `does not permit Cluster prod to use it as a kubeconfig. To permit it: ${command} secret git '${ANNOTATION_SECRET_USE}=kubeconfig'`,
    ],
    [
      'a host that it does not permit, and keeps those that it permits',
      'git; a, b:8443',
      [GIT, HOST],
      `for git.example.com. To permit it: ${command} --overwrite secret git '${ANNOTATION_SECRET_USE}=git; a, b:8443, git.example.com'`,
    ],
    [
      'another port of a host',
      'git; a:8443',
      [GIT, { host: 'a' }],
      `'${ANNOTATION_SECRET_USE}=git; a:8443, a'`,
    ],
    ['a longer name of a host', 'git; example.com', [GIT, HOST], 'does not permit'],
    ['a shorter name of a host', 'git; x.git.example.com', [GIT, HOST], 'does not permit'],
    ['a use without hosts', 'git', [GIT, HOST], 'does not permit'],
  ])('refuses %s, with the command that permits it', (_, use, [reference, to], want) => {
    expect(read(use, reference, to)).toContain(want);
  });

  it.each<[name: string, use: string, reference: SecretReference]>([
    ['a kubeconfig as git credential', 'kubeconfig; git.example.com', GIT],
    ['a git credential as kubeconfig', 'git; git.example.com', KUBECONFIG],
    ['an unknown use', 'everything; git.example.com', GIT],
  ])('never uses %s, and names no command for it', (_, use, reference) => {
    const message = read(use, reference, HOST);
    expect(message).toMatch(/^Secret kubenode-system\/git is "\w+" .*: name another Secret$/);
    expect(message).not.toContain('kubectl');
  });

  it.each(["a'$(id)'", 'a`id`', 'a;id', 'a b', '-a', 'a\nb', ''])(
    'puts no host %j into a command',
    (host) => {
      expect(read(undefined, GIT, { host })).toMatch(/is not sent to .*: this is not a host name$/);
    },
  );

  it('SAF-8 returns a value only for the use and a host of the annotation, whatever the annotation is', () => {
    const word = fc.constantFrom('git', 'kubeconfig', 'a', 'b', 'a:1', ';', ',', ' ', '*', 'git;', 'git;a');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), fc.constantFrom('a', 'b', 'a:1'), (words, host) => {
        const use = words.join('');
        const [first = '', second = ''] = use.split(';').map((part) => part.trim());
        const permitted = first === 'git' && second.split(',').some((each) => each.trim() === host);
        expect(read(use, GIT, { host }) === 's3cret').toBe(permitted);
      }),
    );
  });

  it('names a missing Secret and a missing key, and who references them', () => {
    expect(() => readSecret(secretStore(), GIT, HOST)).toThrow(
      'Secret kubenode-system/git, which Pipeline fleet references, does not exist',
    );
    expect(read('git; git.example.com', { ...GIT, key: 'other' }, HOST)).toBe(
      'Secret kubenode-system/git, which Pipeline fleet references, has no key other: add it',
    );
  });

  it('is the only function that reads Secrets of the hub', () => {
    const readers = SOURCES.filter(({ text }) => /\bsecrets\s*\.(get|list|byIndex)\(/.test(text));
    expect(readers.map(({ path }) => path)).toEqual(['src/api/secrets/read.ts']);
    // The token of sync in a cluster, that a person has made, the hub's cache of Secrets, the Secret that `kubenode plan` puts into its own cache, those that
    // imports of hosts read one by one, and those that only write Secrets: bootstrap tokens, the key of kept revisions, the tour and `kubenode local`.
    // The Secrets of maintenance events and of the update extension, each by its name. Hosting compares the Secret that it wrote with the one that it would write, and finds which
    // tokens inside a hosted cluster an earlier key has signed. Driver workload reads and writes the keys of control planes in the namespaces that it made.
    const importers = SOURCES.filter(({ text }) => /import \{[^}]*\bSECRETS\b/.test(text));
    expect(importers.map(({ path }) => path)).toEqual([
      'src/cli/commands/cluster/connect.ts',
      'src/cli/commands/cluster/sync-token.ts',
      'src/cli/commands/hosting/hosting.ts',
      'src/cli/commands/import/apply/secret.ts',
      'src/cli/fleet/connect-cluster.ts',
      'src/cli/local/revision-key.ts',
      'src/controllers/bootstraptoken/execute.ts',
      'src/controllers/following/clusterapi/extension/certificate/execute.ts',
      'src/controllers/hostdoctor/intake/secret.ts',
      'src/controllers/hosting/controller.ts',
      'src/controllers/hosting/drivers/workload/execute/keys.ts',
      'src/controllers/hosting/drivers/workload/execute/prepare.ts',
      'src/controllers/hosting/drivers/workload/expected.ts',
      'src/controllers/hosting/drivers/workload/hub.ts',
      'src/controllers/hosting/execute/execute.ts',
      'src/controllers/hosting/inside/clients.ts',
      'src/controllers/hosting/observe.ts',
      'src/controllers/machine/import/execute/import-secret.ts',
      'src/demo/tour/steps/push-hook.ts',
      'src/local/pki/secrets.ts',
      'src/providers/power/bmc-secret.ts',
      'src/sync/hub/hub-cache.ts',
    ]);
  });
});

describe('secretVersion', () => {
  it('differs after a change of the Secret, and when it is missing', () => {
    const versions = [
      secretVersion(secretStore(), GIT),
      secretVersion(secretStore({ name: 'git', resourceVersion: '1' }), GIT),
      secretVersion(secretStore({ name: 'git', resourceVersion: '2' }), GIT),
    ];
    expect(new Set(versions).size).toBe(3);
  });
});
