import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../src/kube/objects/object-id.ts';
import { type ApplyOutcome, applyObject } from '../../../src/sync/apply/apply-object.ts';
import type { InventoryEntry } from '../../../src/sync/apply/inventory/inventory.ts';
import { type ObjectPlan, planTarget } from '../../../src/sync/apply/plan.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import { createFakeCluster } from './fake-cluster.ts';
import {
  type ApplyScenario,
  applyInput,
  configMap,
  entry,
  HUB,
  live,
  namespace,
  OLD_COMMIT,
  terminating,
  UNIT,
  unit,
} from './fixtures.ts';

const a = configMap('a');
const changed = configMap('a', { key: 'changed' });
const NOTHING = async () => undefined;
const THEIRS = [{ manager: 'somebody', operation: 'Update' as const }];
const replaceable = { ...a, metadata: { ...a.metadata, annotations: { 'kubenode.dev/replace': 'Allowed' } } };

const changedReplaceable = { ...replaceable, data: { key: 'changed' } };

function planFor(object: KubeObject, observed: ApplyScenario = {}): ObjectPlan {
  const [plan] = planTarget(applyInput({ git: [unit(UNIT, [object])], ...observed })).objects;
  if (!plan) throw new Error('expected one object in the plan');
  return plan;
}

function failingWith(error: KubeError): Promise<ApplyOutcome> {
  const { client } = createFakeCluster().process();
  const failing: Client = {
    ...client,
    apply: async () => {
      throw error;
    },
  };
  return applyObject({ client: failing, hub: HUB, applied: NOTHING }, planFor(a));
}

describe('applyObject', () => {
  it.each<[name: string, inventory: readonly InventoryEntry[], cluster: readonly KubeObject[], sent: object]>(
    [
      ['S4 creates an object only while its name is free', [], [], { resourceVersion: '1', force: false }],
      [
        'creates an object again only while its name is free',
        [entry(a)],
        [],
        { resourceVersion: '1', force: true },
      ],
      [
        'S7 forces what it applied before, on that object',
        [entry(a)],
        [live(changed)],
        { uid: 'uid-a', force: true },
      ],
      [
        'S10 does not force what git changes',
        [entry(changed)],
        [live(changed)],
        { uid: 'uid-a', force: false },
      ],
    ],
  )('%s', async (_name, inventory, cluster, sent) => {
    const { client } = createFakeCluster().process();
    const writes: unknown[] = [];
    const recording: Client = {
      ...client,
      apply: async (_resource, object, { force }) => {
        const { uid, resourceVersion } = object.metadata;
        writes.push({ ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}), force });
        return object as never;
      },
    };
    const plan = planFor(a, { inventory, cluster });
    const outcome = await applyObject({ client: recording, hub: HUB, applied: NOTHING }, plan);
    expect(outcome).toMatchObject({ outcome: 'applied', replaced: false, adopted: false });
    expect(writes).toEqual([sent]);
  });

  it('does not replace an object that another client created under its name meanwhile', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const resource = await client.resourceFor('v1', 'ConfigMap');
    await client.create(resource, {
      ...replaceable,
      metadata: { ...replaceable.metadata, managedFields: THEIRS },
    });
    const inventory = [entry(replaceable)];
    const plan = planFor(replaceable, { inventory, cluster: [live(changedReplaceable)] });
    expect(await applyObject({ client, hub: HUB, applied: NOTHING }, plan)).toMatchObject({
      outcome: 'failed',
      reason: 'NotOurs',
      retryable: false,
    });
    expect(cluster.deleted).toEqual([]);
  });

  it('waits for an object without its labels that is being deleted', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const resource = await client.resourceFor('v1', 'ConfigMap');
    await client.create(resource, configMap('b'));
    await client.create(resource, withoutLabels(terminating(a)));
    expect(await applyObject({ client, hub: HUB, applied: NOTHING }, planFor(a))).toEqual({
      outcome: 'failed',
      reason: 'Terminating',
      message:
        'ConfigMap default/a: being deleted since 2030-01-01T00:00:00Z, finalizers x/y; git declares it, so it is created again once that has ended',
      retryable: true,
    });
  });

  it.each<[name: string, object: KubeObject, message: string]>([
    [
      'a cluster-scoped object with a namespace',
      { ...namespace('web'), metadata: { name: 'web', namespace: 'default' } },
      'Namespace of v1 is cluster-scoped: remove metadata.namespace',
    ],
    [
      'a namespaced object without a namespace',
      { ...a, metadata: { name: 'a' } },
      'ConfigMap of v1 is namespaced: set metadata.namespace',
    ],
  ])('sends nothing for %s, and fails that object alone', async (_name, object, message) => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    expect(await applyObject({ client, hub: HUB, applied: NOTHING }, planFor(object))).toEqual({
      outcome: 'failed',
      reason: 'WrongScope',
      message,
      retryable: false,
    });
    expect(cluster.objects.size).toBe(0);
  });

  it.each<[code: KubeErrorCode, retryable: boolean]>([
    ['ServerError', true],
    ['Conflict', true],
    ['NotFound', true],
    ['Invalid', false],
    ['Forbidden', false],
  ])('S8 returns %s as a failure of this object; retryable: %s', async (code, retryable) => {
    expect(await failingWith(new KubeError(code, 'rejected'))).toMatchObject({
      outcome: 'failed',
      reason: code,
      retryable,
    });
  });

  it('waits while the namespace of an object is being deleted', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'namespace x is being terminated' }];
    expect(await failingWith(new KubeError('Forbidden', 'terminating', { causes }))).toMatchObject({
      reason: 'Terminating',
      retryable: true,
    });
  });

  it('S10 reports a conflict of field managers and does not retry it', async () => {
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "somebody"' }];
    expect(await failingWith(new KubeError('Conflict', 'conflict', { causes }))).toMatchObject({
      reason: 'FieldConflict',
      retryable: false,
    });
  });

  it.each([
    [
      'takes the field of a manager that is named',
      ['somebody'],
      [{ resourceVersion: '8', force: true }],
      'applied',
    ],
    ['takes nothing of a manager that is not named', ['helm'], [], 'failed'],
    ['takes nothing without a list, and reads nothing', [], [], 'failed'],
  ] as const)('S10 decides about a conflicting field: %s', async (_name, forceManagers, forced, expected) => {
    const data = {
      manager: 'somebody',
      operation: 'Update',
      fieldsV1: { 'f:data': { 'f:key': {} } },
    } as const;
    const theirs = live(configMap('a', { key: 'theirs' }));
    const found = {
      ...theirs,
      metadata: { ...theirs.metadata, resourceVersion: '8', managedFields: [data] },
    };
    const { client } = createFakeCluster().process();
    const writes: object[] = [];
    let reads = 0;
    const conflicting: Client = {
      ...client,
      get: async () => {
        reads += 1;
        return found as never;
      },
      apply: async (_resource, { metadata: { resourceVersion } }, { force }) => {
        const causes = [{ reason: 'FieldManagerConflict', field: '.data.key', message: 'conflict' }];
        if (!force) throw new KubeError('Conflict', 'conflict with "somebody"', { causes });
        writes.push({ resourceVersion, force });
        return found as never;
      },
    };
    const plan = planFor(a, {
      inventory: [entry(changed)],
      cluster: [found],
      more: { forceManagers },
    });
    const outcome = await applyObject({ client: conflicting, hub: HUB, applied: NOTHING }, plan);
    expect([outcome.outcome, writes, reads]).toEqual([expected, forced, forceManagers.length > 0 ? 1 : 0]);
  });

  it('S10 binds a write that contains the live value of an ignored field to its version', async () => {
    const { client } = createFakeCluster().process();
    const writes: object[] = [];
    const recording: Client = {
      ...client,
      get: async () => found as never,
      apply: async (_resource, { metadata: { uid, resourceVersion }, data }) => {
        writes.push({ uid, resourceVersion, data });
        return live(a) as never;
      },
    };
    const owned = {
      manager: 'kubenode-sync',
      operation: 'Apply',
      fieldsV1: { 'f:data': { 'f:key': {} } },
    } as const;
    const present = live(configMap('a', { key: 'live' }));
    const found = {
      ...present,
      metadata: { ...present.metadata, resourceVersion: '8', managedFields: [owned] },
    };
    const fieldPolicies = [{ kind: 'ConfigMap', path: 'data.key', policy: 'Ignore' }] as const;
    const plan = planFor(configMap('a', { key: 'git', more: 'new' }), {
      inventory: [entry(a)],
      cluster: [present],
      more: { fieldPolicies },
    });
    await applyObject({ client: recording, hub: HUB, applied: NOTHING }, plan);
    expect(writes).toEqual([{ uid: 'uid-a', resourceVersion: '8', data: { key: 'live', more: 'new' } }]);
  });

  it('S10 creates an object with the ignored fields, although it existed when it was observed', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const plan = planFor(a, {
      inventory: [{ ...objectIdOf(a), version: 'v1', unit: UNIT, commit: OLD_COMMIT }],
      cluster: [live(changed)],
      more: { fieldPolicies: [{ kind: 'ConfigMap', path: 'data.key', policy: 'Ignore' }] },
    });
    expect(plan).toMatchObject({ action: 'update', because: 'not confirmed yet', object: { data: {} } });
    expect((await applyObject({ client, hub: HUB, applied: NOTHING }, plan)).outcome).toBe('applied');
    expect([...cluster.objects.values()]).toMatchObject([{ data: { key: 'value' } }]);
  });

  it('S10 takes over a field only at the version of which the write contains ignored values', async () => {
    const { client } = createFakeCluster().process();
    const theirs = { manager: 'helm', operation: 'Update', fieldsV1: { 'f:data': { 'f:key': {} } } } as const;
    const ours = {
      manager: 'kubenode-sync',
      operation: 'Apply',
      fieldsV1: { 'f:data': { 'f:own': {} } },
    } as const;
    const present = live(configMap('a', { key: 'theirs', own: 'live' }));
    const writes: object[] = [];
    let version = 7;
    const racing: Client = {
      ...client,
      get: async () => {
        version += 1;
        const metadata = { resourceVersion: String(version), managedFields: [ours, theirs] };
        return { ...present, metadata: { ...present.metadata, ...metadata } } as never;
      },
      apply: async (_resource, { metadata: { resourceVersion }, data }, { force }) => {
        writes.push({ resourceVersion, data, force });
        const causes = [{ reason: 'FieldManagerConflict', field: '.data.key', message: 'conflict' }];
        if (!force) throw new KubeError('Conflict', 'conflict with "helm"', { causes });
        return present as never;
      },
    };
    const fieldPolicies = [{ kind: 'ConfigMap', path: 'data.own', policy: 'Ignore' }] as const;
    const plan = planFor(configMap('a', { key: 'git', own: 'git' }), {
      inventory: [entry(a)],
      cluster: [present],
      more: { fieldPolicies, forceManagers: ['helm'] },
    });
    await applyObject({ client: racing, hub: HUB, applied: NOTHING }, plan);
    const sent = { resourceVersion: '8', data: { key: 'git', own: 'live' } };
    expect(writes).toEqual([
      { ...sent, force: false },
      { ...sent, force: true },
    ]);
  });

  it.each<KubeErrorCode>(['Unreachable', 'Timeout', 'Aborted', 'Unauthorized', 'TooManyRequests'])(
    'S16 rejects with %s: the next object would fail too',
    async (code) => {
      await expect(failingWith(new KubeError(code, 'no answer'))).rejects.toMatchObject({ code });
    },
  );

  it.each([
    ['replaces an object with the annotation', live(replaceable), 'applied'],
    ['replaces an object that moves from another unit', live(replaceable, { unit: 'other' }), 'applied'],
    ['replaces an object whose labels somebody removed', withoutLabels(live(replaceable)), 'applied'],
    ['does not replace an object without the annotation', live(a), 'failed'],
  ] as const)('S11 replaces an object only where git allows it: %s', async (_name, present, expected) => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const created = await client.create(await client.resourceFor('v1', 'ConfigMap'), present);
    const { uid = '' } = created.metadata;
    const causes = [{ reason: 'FieldValueForbidden', field: 'data', message: 'field is immutable' }];
    const immutable = new KubeError('Invalid', 'immutable', { status: 422, reason: 'Invalid', causes });
    const picky: Client = {
      ...client,
      apply: async (resource, applied, options) => {
        if (cluster.objects.size > 0) throw immutable;
        return client.apply(resource, applied, options);
      },
    };
    const object = expected === 'applied' ? replaceable : a;
    const plan = planFor(object, {
      inventory: [entry(object, { uid, unit: 'other' })],
      cluster: [created],
    });
    const outcome = await applyObject({ client: picky, hub: HUB, applied: NOTHING }, plan);
    expect(outcome.outcome).toBe(expected);
    expect(cluster.deleted).toHaveLength(expected === 'applied' ? 1 : 0);
  });

  it('S29 never sends an object that is still encrypted', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const plan = planFor(encryptedObject('secret.yaml'));
    const outcome = await applyObject({ client, hub: HUB, applied: NOTHING }, plan);
    expect(outcome).toMatchObject({ outcome: 'failed', reason: 'Encrypted', retryable: false });
    expect(cluster.objects.size).toBe(0);
  });

  it('S29 does not repeat what the server answers about a decrypted object, which may quote a value', async () => {
    const encrypted = planFor(encryptedObject('secret.yaml'));
    const plan = { ...encrypted, object: { ...encrypted.object, sops: undefined } };
    const causes = [{ reason: 'FieldValueInvalid', field: 'data[z]', message: 'Invalid value: "canary"' }];
    const error = new KubeError('Invalid', 'apply: "canary" is invalid', {
      reason: 'Invalid',
      status: 422,
      causes,
    });
    const client: Client = {
      ...createFakeCluster().process().client,
      apply: async () => {
        throw error;
      },
    };
    expect(await applyObject({ client, hub: HUB, applied: NOTHING }, plan)).toEqual({
      outcome: 'failed',
      reason: 'Invalid',
      message:
        'apply Secret shop/db: Invalid, fields data[z]. The answer is not shown, because the object is encrypted in git',
      retryable: false,
    });
  });
});

function withoutLabels(object: KubeObject): KubeObject {
  const { labels: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
