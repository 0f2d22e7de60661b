import { describe, expect, it } from 'vitest';
import { createCommitChecks } from '../../../src/cli/commands/sync/checks.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { refusals } from '../../../src/sync/judge/object-checks.ts';
import { HUB_TARGET } from '../../../src/sync/rendered.ts';
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

async function said(objects: readonly KubeObject[], target = 'test'): Promise<string[]> {
  const units = [{ unit: 'web', objects: objects.map((object) => ({ object, source })), digest: 'sha256:0' }];
  const found = await refusals({ target, units, digest: 'sha256:0' }, createCommitChecks());
  return found.map(({ object, message }) => `${object}: ${message}`);
}

describe('refusals', () => {
  it('has nothing against what is allowed', async () => {
    expect(await said([configMap()])).toEqual([]);
    expect(await said([pipeline()], HUB_TARGET)).toEqual([]);
  });

  it.each<[name: string, object: KubeObject, message: string]>([
    ['a status', configMap({ status: {} }), 'status: the server sets it, so git cannot: leave it out'],
    ['a UID', configMap({}, { uid: 'x' }), 'metadata.uid: the server sets it, so git cannot: leave it out'],
    [
      'a version',
      configMap({}, { resourceVersion: '1' }),
      'metadata.resourceVersion: the server sets it, so git cannot: leave it out',
    ],
    [
      'a generated name',
      configMap({}, { generateName: 'a-' }),
      'metadata.generateName: an object from git needs a name of its own',
    ],
    [
      'our mark',
      configMap({}, { labels: { 'kubenode.dev/hub': 'x' } }),
      'kubenode.dev/hub: sync puts this mark on itself: leave it out',
    ],
    [
      'a commit of its own',
      configMap({}, { annotations: { 'kubenode.dev/commit': 'x' } }),
      'kubenode.dev/commit: sync puts this mark on itself: leave it out',
    ],
    [
      'an inventory',
      configMap({}, { name: 'inventory-web-0', namespace: 'kubenode-system' }),
      'ConfigMap inventory-web-0 in kubenode-system is kept by kubenode itself: choose another name',
    ],
    [
      'something among the Leases of agents',
      configMap({}, { namespace: 'kubenode-agents' }),
      'namespace kubenode-agents holds the Leases of agents and nothing else',
    ],
    [
      'a Pipeline for a cluster',
      pipeline(),
      'a Pipeline lives in the hub: declare it there, not for cluster test',
    ],
  ])('refuses %s', async (_name, object, message) => {
    expect(await said([object])).toEqual([expect.stringContaining(message)]);
  });

  it.each(['Release', 'RemedyOperationJob', 'MaintenanceEvent', 'DefenderLedger'])(
    'refuses a %s, which its controller writes',
    async (kind) => {
      const object = { apiVersion: API, kind, metadata: { name: 'a' }, spec: {} };
      expect(await said([object])).toContainEqual(
        expect.stringContaining(`a ${kind} is written by its controller, never by git`),
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
    expect(await said([machine])).toContainEqual(
      expect.stringContaining('spec.components: the component set controller writes it'),
    );
    const stop = {
      apiVersion: API,
      kind: 'DefenderPolicy',
      metadata: { name: 'kill-switch' },
      spec: { scope: { nodeSelector: { all: true } } },
    };
    expect(await said([stop])).toContainEqual(expect.stringContaining('the name kill-switch is reserved'));
  });

  it('refuses the same object twice, and says where the first one is', async () => {
    expect(await said([configMap(), configMap()])).toEqual([
      'ConfigMap default/a: it is declared twice: also in unit web, fleet/main.ts:7 test/web/a',
    ]);
  });

  it('refuses what breaks the schema of our kinds, by field', async () => {
    expect(await said([pipeline({ stages: [] })], HUB_TARGET)).toEqual([
      expect.stringContaining('spec.stages'),
    ]);
    expect(await said([pipeline({ unheardOf: true })], HUB_TARGET)).toEqual([
      expect.stringContaining('unheardOf'),
    ]);
  });

  it('takes a rule that does what its tests say, as often as it is there', async () => {
    expect(await said([rule(), { ...rule(), metadata: { name: 'again' } }])).toEqual([]);
  });

  it('refuses a rule that fails its own test, and says which, what it said and why', async () => {
    const twice = [rule({ '/tests/0/expect': 'NoMatch', '/tests/1/expect': 'Match' }), rule()];
    expect(await said(twice.slice(0, 1))).toEqual([
      'kubenode.dev/NodeRemedier hung: spec.tests[0]: test "hung" failed: expected NoMatch, got Match, because ' +
        'condition FrequentTaskHung status is "True"; condition Ready status is "Unknown"',
      expect.stringMatching(/spec\.tests\[1\]: test "well" failed: expected Match, got NoMatch, because/),
    ]);
    expect(await said(twice.slice(1))).toEqual([]);
  });

  it('refuses a rule that is none, in the words of the compiler, once for each place', async () => {
    const leaf = '/rule/conditions/all/0';
    expect(await said([rule({ [`${leaf}/operator`]: 'notEqual', [`${leaf}/valu`]: 3 })])).toEqual([
      expect.stringMatching(/spec\.rule\.conditions\.all\[0\]\.valu: unknown field; did you mean value\?/),
      expect.stringMatching(/spec\.rule\.conditions\.all\[0\]\.operator: .*negation is not supported/),
    ]);
  });

  it('judges no rule of another group', async () => {
    const foreign = { ...rule({ '/rule': {} }), apiVersion: 'example.com/v1' };
    expect(await said([foreign])).toEqual([]);
  });

  it.each<[path: string, object: KubeObject]>([
    ['spec.source.signatures', pipeline({}, { signatures: 'Range' })],
    ['spec.source.sopsKeysRef', pipeline({}, { sopsKeysRef: { name: 'a', key: 'b' } })],
    ['spec.onFailure', pipeline({ onFailure: 'PushRevert' })],
    [
      'spec.freezes',
      pipeline({
        freezes: [{ name: 'x', from: '2030-01-01T00:00:00Z', until: '2030-01-02T00:00:00Z', reason: 'y' }],
      }),
    ],
    ['spec.identities', pipeline({ identities: [{ unit: 'web', serviceAccount: 'a' }] })],
    [
      'spec.stages[0].windows',
      pipeline({
        stages: [
          {
            ...STAGES[0],
            windows: [{ name: 'w', days: ['Mon'], start: '09:00', end: '10:00', timeZone: 'UTC' }],
          },
        ],
      }),
    ],
    ['spec.stages[0].approvalByOther', pipeline({ stages: [{ ...STAGES[0], approvalByOther: true }] })],
    [
      'spec.stages[0].checks[0].cel',
      pipeline({
        stages: [{ ...STAGES[0], checks: [{ name: 'c', cel: { kind: 'Machine', expression: 'true' } }] }],
      }),
    ],
  ])('refuses %s, which would be a promise that nobody keeps', async (path, object) => {
    expect(await said([object], HUB_TARGET)).toEqual([
      `kubenode.dev/Pipeline fleet: ${path}: this version of kubenode does not act on it yet: leave it out`,
    ]);
  });
});
