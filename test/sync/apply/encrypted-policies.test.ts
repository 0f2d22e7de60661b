/** An encrypted object whose fields are ignored or taken over, or that is paused: the rules hold for its values as for any field. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, ManagedFields } from '../../../src/kube/objects/object.ts';
import { sentForm } from '../../../src/kube/sops/sent-form.ts';
import { type ApplyOutcome, applyObject } from '../../../src/sync/apply/apply-object.ts';
import type { ApplyInput } from '../../../src/sync/apply/input.ts';
import { objectsToDecrypt, planTarget } from '../../../src/sync/apply/plan.ts';
import { withoutPausedParts } from '../../../src/sync/apply/prune/paused-parts.ts';
import type { DecryptedObjects } from '../../../src/sync/decrypt-objects.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import { createFakeCluster } from './fake-cluster.ts';
import { type ApplyScenario, applyInput, entry, HUB, live, UNIT, unit } from './fixtures.ts';

const CANARY = 'canary';
const secret = encryptedObject('secret.yaml');
const opened = sentForm({ ...secret, stringData: { password: CANARY, user: 'git' } });
const git = unit(UNIT, [secret]);
const readable = decryptedAs({ object: opened });
const IGNORE_PASSWORD = [{ kind: 'Secret', path: 'data.password', policy: 'Ignore' }] as const;
const PAUSED = { pausedObjects: new Map([['Secret/shop/db', 'run resume; paused by anna']]) };

function decryptedAs(found: { object: KubeObject } | { problem: string }): DecryptedObjects {
  return new Map(git.objects.map((rendered) => [rendered, found]));
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The object in the cluster, with values that others changed. */
function liveWith(data: Record<string, string>, managedFields: readonly ManagedFields[] = []): KubeObject {
  const values = Object.entries(data).map(([key, value]) => [key, encoded(value)] as const);
  const present = live({ ...opened, data: { ...(opened['data'] as object), ...Object.fromEntries(values) } });
  return { ...present, metadata: { ...present.metadata, resourceVersion: '8', managedFields } };
}

function scenario(cluster: KubeObject, more: Partial<ApplyInput>): ApplyScenario {
  return { git: [git], inventory: [entry(secret)], cluster: [cluster], more };
}

describe('the plan for an encrypted object', () => {
  it.each<[name: string, cluster: KubeObject, more: Partial<ApplyInput>, expected: string]>([
    [
      'S10 leaves an ignored value alone',
      liveWith({ password: 'theirs' }),
      { fieldPolicies: IGNORE_PASSWORD, decrypted: readable },
      'same: matches git',
    ],
    [
      'S10 corrects its other values',
      liveWith({ password: 'theirs', user: 'theirs' }),
      { fieldPolicies: IGNORE_PASSWORD, decrypted: readable },
      'correct: changed in the cluster: data.user',
    ],
    [
      'S30 shows drift of a paused object by the name of its field',
      liveWith({ password: 'theirs', user: 'theirs' }),
      { fieldPolicies: IGNORE_PASSWORD, decrypted: readable, ...PAUSED },
      'paused: correct: changed in the cluster: data.user',
    ],
    [
      'S30 has nothing to pause where only an ignored value differs',
      liveWith({ password: 'theirs' }),
      { fieldPolicies: IGNORE_PASSWORD, decrypted: readable, ...PAUSED },
      'same: matches git',
    ],
    [
      'S29 does not call a paused object in sync while it cannot be decrypted',
      liveWith({}),
      { fieldPolicies: IGNORE_PASSWORD, decrypted: decryptedAs({ problem: 'no key' }), ...PAUSED },
      'wait: no key',
    ],
  ])('%s', (_name, cluster, more, expected) => {
    const input = applyInput(scenario(cluster, more));
    const { objects } = withoutPausedParts(planTarget(input), input);
    expect(objects.map(({ action, because }) => `${action}: ${because}`)).toEqual([expected]);
    expect(JSON.stringify(objects.map(({ because }) => because))).not.toContain(CANARY);
  });

  it('S10 asks for the values again as soon as a field is not ignored any more', () => {
    const cluster = liveWith({ password: 'theirs' });
    const ignoring = applyInput(scenario(cluster, { fieldPolicies: IGNORE_PASSWORD, decrypted: readable }));
    planTarget(ignoring);
    expect(objectsToDecrypt(ignoring)).toEqual([]);
    const comparing = applyInput(scenario(cluster, { decrypted: readable }));
    expect(objectsToDecrypt(comparing)).toEqual(git.objects);
    expect(planTarget(comparing).objects).toMatchObject([
      { action: 'correct', because: 'changed in the cluster: data.password' },
    ]);
  });
});

describe('the write of an encrypted object', () => {
  const ours = ownerOf('kubenode-sync', 'Apply', 'password');
  const helms = ownerOf('helm', 'Update', 'user');
  const found = liveWith({ password: 'theirs', user: 'theirs' }, [ours, helms]);
  const sent = {
    uid: 'uid-db',
    resourceVersion: '8',
    data: { ...(opened['data'] as object), password: encoded('theirs'), user: encoded('git') },
  };

  it('S10 takes over the value of a named manager, and keeps an ignored one as it is', async () => {
    const { outcome, writes } = await applyTo(found, ['helm']);
    expect(outcome.outcome).toBe('applied');
    expect(writes).toEqual([
      { ...sent, force: false },
      { ...sent, force: true },
    ]);
  });

  it('S10 names the field and the manager of a conflict, and no value', async () => {
    const { outcome, writes } = await applyTo(found, ['kubectl']);
    expect(writes).toEqual([{ ...sent, force: false }]);
    expect(outcome).toMatchObject({
      outcome: 'failed',
      reason: 'FieldConflict',
      message: expect.stringMatching(
        /^apply Secret shop\/db: Conflict, fields \.data\.user, managers helm\. .* spec\.forceManagers/,
      ) as string,
    });
    expect(JSON.stringify(outcome)).not.toContain(CANARY);
  });
});

function ownerOf(manager: string, operation: 'Apply' | 'Update', field: string): ManagedFields {
  return { manager, operation, fieldsV1: { 'f:data': { [`f:${field}`]: {} } } };
}

interface Applied {
  readonly outcome: ApplyOutcome;
  readonly writes: readonly object[];
}

/** Applies the next commit to a server on which helm has the user, and which quotes a value in each answer. */
async function applyTo(found: KubeObject, forceManagers: readonly string[]): Promise<Applied> {
  const writes: object[] = [];
  const client: Client = {
    ...createFakeCluster().process().client,
    get: async () => found as never,
    apply: async (_resource, object, { force }) => {
      expect([object['sops'], object['stringData']]).toEqual([undefined, undefined]);
      const { uid, resourceVersion } = object.metadata;
      writes.push({ uid, resourceVersion, data: object['data'], force });
      const message = 'conflict with "helm" using v1';
      const causes = [{ reason: 'FieldManagerConflict', field: '.data.user', message }];
      if (!force) throw new KubeError('Conflict', `conflict, got ${CANARY}`, { reason: 'Conflict', causes });
      return object as never;
    },
  };
  const more = { fieldPolicies: IGNORE_PASSWORD, forceManagers, decrypted: readable };
  const changed = { ...scenario(found, more), inventory: [entry({ ...secret, sops: {} })] };
  const [plan] = planTarget(applyInput(changed)).objects;
  if (!plan) throw new Error('expected one object in the plan');
  return { outcome: await applyObject({ client, hub: HUB, applied: async () => undefined }, plan), writes };
}
