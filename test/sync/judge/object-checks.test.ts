import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { installation } from '../../../src/api/install/installation.ts';
import { createCommitChecks } from '../../../src/cli/checks/commit-checks.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { findAllRefusals, findRefusals, MAX_REFUSALS } from '../../../src/sync/judge/object-checks.ts';
import { HUB_TARGET, type RenderedObject } from '../../../src/sync/rendered.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import { createRemedierSpec } from '../../rules/sample-rule.ts';

const source = { file: 'fleet/main.ts:7', construct: 'test/web/a' };
const API = 'kubenode.dev/v1alpha1';

function configMap(more: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    ...more,
  };
}

const STAGES = [{ name: 'test', clusterSelector: { all: true } }];

function pipeline(spec: object = {}, sourceFields: object = {}): KubeObject {
  const from = { repository: 'https://git.example.com/fleet', ...sourceFields };
  return {
    apiVersion: API,
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { source: from, stages: STAGES, ...spec },
  };
}

function rule(changes: Readonly<Record<string, unknown>> = {}): KubeObject {
  return {
    apiVersion: API,
    kind: 'NodeRemedier',
    metadata: { name: 'hung' },
    spec: createRemedierSpec(changes),
  };
}

function rendered(objects: readonly KubeObject[]): RenderedObject[] {
  return objects.map((object) => ({ object, source }));
}

async function messagesFor(objects: readonly KubeObject[], target = 'test'): Promise<string[]> {
  const units = [{ unit: 'web', objects: rendered(objects), digest: 'sha256:0' }];
  const found = await findRefusals({ target, units, digest: 'sha256:0' }, createCommitChecks());
  return found.map(({ object, message }) => `${object}: ${message}`);
}

describe('findAllRefusals', () => {
  const many = Array.from({ length: 3000 }, (_, index) => configMap({}, { name: `A ${index}`, uid: 'x' }));
  const refused = {
    target: 'test',
    digest: '',
    units: [{ unit: 'web', digest: '', objects: rendered(many) }],
  };

  it('lets other work go on while it checks thousands of objects', async () => {
    const running = { checks: true };
    const checks = findAllRefusals({ targets: [refused] }, createCommitChecks()).finally(() => {
      running.checks = false;
    });
    let turns = 0;
    for (; running.checks; turns += 1) await setImmediate();
    await checks;
    expect(turns).toBeGreaterThan(4);
  });

  it('SAF-5 ends at the most refusals that are kept, over all targets', async () => {
    const targets = Array.from({ length: 40 }, () => refused);
    expect(await findAllRefusals({ targets }, createCommitChecks())).toHaveLength(MAX_REFUSALS);
  });

  it('SAF-5 refuses one object with more unknown fields than a stack holds', async () => {
    const fields = Object.fromEntries(Array.from({ length: 145_000 }, (_, index) => [`x${index}`, 1]));
    const units = [{ unit: 'web', digest: '', objects: rendered([{ ...rule(), spec: fields }]) }];
    const found = await findAllRefusals(
      { targets: [{ target: 'test', digest: '', units }] },
      createCommitChecks(),
    );
    expect(found).toHaveLength(MAX_REFUSALS);
    expect(found[0]?.object).toBe('kubenode.dev/NodeRemedier hung');
  });
});

describe('findRefusals', () => {
  it('accepts objects without problems', async () => {
    expect(await messagesFor([configMap()])).toEqual([]);
    expect(await messagesFor([pipeline()], HUB_TARGET)).toEqual([]);
  });

  it.each<[name: string, object: KubeObject, message: string]>([
    ['a status', configMap({ status: {} }), 'status: set by the server: remove it'],
    ['a UID', configMap({}, { uid: 'x' }), 'metadata.uid: set by the server: remove it'],
    [
      'a version',
      configMap({}, { resourceVersion: '1' }),
      'metadata.resourceVersion: set by the server: remove it',
    ],
    [
      'a generated name',
      configMap({}, { generateName: 'a-' }),
      'metadata.generateName: an object in git needs a fixed name: set metadata.name',
    ],
    [
      'an owner label',
      configMap({}, { labels: { 'kubenode.dev/hub': 'x' } }),
      'kubenode.dev/hub: set by sync: remove it',
    ],
    [
      'the commit annotation',
      configMap({}, { annotations: { 'kubenode.dev/commit': 'x' } }),
      'kubenode.dev/commit: set by sync: remove it',
    ],
    [
      'the permission to use a Secret',
      {
        ...configMap({}, { annotations: { 'kubenode.dev/secret-use': 'git; evil.example.com' } }),
        kind: 'Secret',
      },
      'kubenode.dev/secret-use: set by a person with kubectl, never by a commit: remove it',
    ],
    [
      'the mark of an adopted object',
      configMap({}, { annotations: { 'kubenode.dev/adopted': 'true' } }),
      'kubenode.dev/adopted: set by sync: remove it',
    ],
    [
      'an inventory',
      configMap({}, { name: 'inventory-web-0', namespace: 'kubenode-system' }),
      'ConfigMap inventory-web-0 in kubenode-system is reserved for kubenode: choose another name',
    ],
    [
      'an object in the namespace of agent Leases',
      configMap({}, { namespace: 'kubenode-agents' }),
      'namespace kubenode-agents is reserved for the Leases of agents',
    ],
    [
      'a forged part of the audit record',
      configMap({}, { name: 'record-sync-000002', namespace: 'kubenode-audit' }),
      'namespace kubenode-audit is reserved for the audit record: use another namespace',
    ],
    [
      'another object in the namespace of pools',
      configMap({}, { namespace: 'kubenode-hosts' }),
      'namespace kubenode-hosts is reserved for pools of hosts: ConfigMaps with the label kubenode.dev/host-pool',
    ],
    [
      'a Pipeline for a cluster',
      pipeline(),
      'Pipeline belongs in the hub: declare it there, not in cluster test',
    ],
  ])('refuses %s', async (_name, object, message) => {
    expect(await messagesFor([object])).toEqual([expect.stringContaining(message)]);
  });

  it('accepts a pool of hosts', async () => {
    const pool = configMap(
      {},
      { namespace: 'kubenode-hosts', labels: { 'kubenode.dev/host-pool': 'rack7' } },
    );
    expect(await messagesFor([pool])).toEqual([]);
  });

  it.each(['inventory', 'inventory.fleet'])('refuses the state %s of an inventory', async (name) => {
    expect(await messagesFor([configMap({}, { name, namespace: 'kubenode-system' })])).toEqual([
      expect.stringContaining('reserved for kubenode'),
    ]);
  });

  it('refuses every object that `kubenode install` owns, by its name, in every cluster and in the hub', async () => {
    for (const { apiVersion, kind, metadata } of installation()) {
      const { name, namespace } = metadata;
      const copy = { apiVersion, kind, metadata: { name, ...(namespace ? { namespace } : {}) } };
      for (const target of ['test', HUB_TARGET]) {
        expect(await messagesFor([copy], target)).toContainEqual(
          expect.stringContaining(`${kind} ${name} belongs to \`kubenode install\`: remove it from git`),
        );
      }
    }
  });

  it('refuses a CRD of our group that this version does not install, and accepts a role of another name', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'futures.kubenode.dev' },
    };
    expect(await messagesFor([crd])).toEqual([
      expect.stringContaining('CustomResourceDefinition futures.kubenode.dev belongs to `kubenode install`'),
    ]);
    const labels = { 'kubenode.dev/aggregate-to-sync': 'true' };
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'kubenode-sync-certificates', labels },
    };
    expect(await messagesFor([role])).toEqual([]);
  });

  it.each(['Release', 'RemedyOperationJob', 'MaintenanceEvent', 'DefenderLedger', 'FleetAllowance'])(
    'refuses a %s, which its controller writes',
    async (kind) => {
      const object = { apiVersion: API, kind, metadata: { name: 'a' }, spec: {} };
      expect(await messagesFor([object])).toContainEqual(
        expect.stringContaining(`${kind} is written by its controller: remove it from git`),
      );
    },
  );

  it('refuses components of a Machine and the policy kill-switch', async () => {
    const machine = {
      apiVersion: API,
      kind: 'Machine',
      metadata: { name: 'm' },
      spec: { infra: { provider: 'local', config: {} }, components: [] },
    };
    expect(await messagesFor([machine])).toContainEqual(
      expect.stringContaining('spec.components: written by the component set controller'),
    );
    const stop = {
      apiVersion: API,
      kind: 'DefenderPolicy',
      metadata: { name: 'kill-switch' },
      spec: { scope: { nodeSelector: { all: true } } },
    };
    expect(await messagesFor([stop])).toContainEqual(
      expect.stringContaining('the name kill-switch is reserved'),
    );
  });

  it('refuses the halt of a Pipeline, which belongs to a person', async () => {
    const halt = { by: 'a', reason: 'b', since: '2030-01-01T00:00:00Z' };
    expect(await messagesFor([pipeline({ halt })], HUB_TARGET)).toEqual([
      expect.stringContaining('spec.halt: written by `kubenode release halt`'),
    ]);
  });

  it('refuses the accepted head of a Pipeline, which a commit could use to accept itself', async () => {
    const acceptedHead = { commit: 'a', by: 'a', since: '2030-01-01T00:00:00Z' };
    expect(await messagesFor([pipeline({ acceptedHead })], HUB_TARGET)).toEqual([
      expect.stringContaining('spec.acceptedHead: written by `kubenode release accept-head`'),
    ]);
  });

  it('refuses pauses of a Cluster, which a commit could use to lift the halt of a person', async () => {
    const halted = { ...pipeline({ pauses: [{ name: 'release-halt' }] }), kind: 'Cluster' };
    expect(await messagesFor([halted], HUB_TARGET)).toContainEqual(
      expect.stringContaining('spec.pauses: written by `kubenode release halt`'),
    );
    const empty = { ...pipeline({ pauses: [] }), kind: 'Cluster' };
    expect((await messagesFor([empty], HUB_TARGET)).join()).not.toContain('pauses');
  });

  it('S29 refuses an encrypted object that no key of sync opens', async () => {
    const objects = [encryptedObject('groups.yaml'), encryptedObject('secret.yaml')];
    expect(await messagesFor(objects)).toEqual([
      expect.stringMatching(/^Secret shop\/suffix: it has key groups, of which sync cannot have all keys/),
    ]);
  });

  it('refuses an object that is declared twice, and names the first declaration', async () => {
    expect(await messagesFor([configMap(), configMap()])).toEqual([
      'ConfigMap default/a: declared twice: also in unit web, fleet/main.ts:7 test/web/a',
    ]);
  });

  it('refuses an object that violates the schema of its kind, by field', async () => {
    expect(await messagesFor([pipeline({ stages: [] })], HUB_TARGET)).toEqual([
      expect.stringContaining('spec.stages'),
    ]);
    expect(await messagesFor([pipeline({ unheardOf: true })], HUB_TARGET)).toEqual([
      expect.stringContaining('unheardOf'),
    ]);
  });

  it('accepts a rule that passes its tests, under several names', async () => {
    expect(await messagesFor([rule(), { ...rule(), metadata: { name: 'again' } }])).toEqual([]);
  });

  it('refuses a rule that fails its own test, with the test, the result and the reason', async () => {
    const twice = [rule({ '/tests/0/expect': 'NoMatch', '/tests/1/expect': 'Match' }), rule()];
    expect(await messagesFor(twice.slice(0, 1))).toEqual([
      'kubenode.dev/NodeRemedier hung: spec.tests[0]: test "hung" failed: expected NoMatch, got Match, because ' +
        'condition FrequentTaskHung status is "True"; condition Ready status is "Unknown"',
      expect.stringMatching(/spec\.tests\[1\]: test "well" failed: expected Match, got NoMatch, because/),
    ]);
    expect(await messagesFor(twice.slice(1))).toEqual([]);
  });

  it('refuses a rule that does not compile, with one message of the compiler for each path', async () => {
    const leaf = '/rule/conditions/all/0';
    expect(await messagesFor([rule({ [`${leaf}/operator`]: 'notEqual', [`${leaf}/valu`]: 3 })])).toEqual([
      expect.stringMatching(/spec\.rule\.conditions\.all\[0\]\.valu: unknown field; did you mean value\?/),
      expect.stringMatching(/spec\.rule\.conditions\.all\[0\]\.operator: .*negation is not supported/),
    ]);
  });

  it('ignores kinds named NodeRemedier of another group', async () => {
    const foreign = { ...rule({ '/rule': {} }), apiVersion: 'example.com/v1' };
    expect(await messagesFor([foreign])).toEqual([]);
  });
});
