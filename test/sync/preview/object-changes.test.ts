/** The dry runs of a preview, on a cluster in memory. test/cluster/sync/preview.test.ts has the real one. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { ObjectPlan } from '../../../src/sync/apply/plan.ts';
import { changesOf } from '../../../src/sync/preview/object-changes.ts';
import { createFakeCluster } from '../apply/fake-cluster.ts';
import { configMap, HUB, UNIT } from '../apply/fixtures.ts';

function planOf(object: KubeObject): ObjectPlan {
  const rendered = { object, source: {} };
  const fields = { ignored: [], forceManagers: [], force: false, digest: 'd', because: 'changed in git' };
  return {
    action: 'update',
    id: objectIdOf(object),
    unit: UNIT,
    rendered,
    object,
    declared: object,
    uid: 'u',
    ...fields,
  };
}

interface Answer {
  readonly client?: Partial<Client>;
  readonly encryptedBefore?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Previews objects of which the cluster has another content. */
async function preview(objects: readonly KubeObject[], answer: Answer = {}) {
  const { client, encryptedBefore = [], signal = new AbortController().signal } = answer;
  const options = {
    client: { ...createFakeCluster().process().client, ...client },
    hub: HUB,
    encryptedBefore: new Set(encryptedBefore),
    signal,
  };
  const changes = await changesOf(options, { objects: objects.map(planOf) }, () => undefined);
  return [...changes.values()].map(({ action, details }) => [action, ...details]);
}

const LIVE = configMap('a', { key: 'canary' });
const READ: Partial<Client> = {
  get: async <T>() => LIVE as T,
  apply: async <T>(_: unknown, object: unknown) => object as T,
};
const REFUSED: Partial<Client> = {
  ...READ,
  apply: () =>
    Promise.reject(new KubeError('Invalid', 'data.key: "canary" cannot change', { reason: 'Invalid' })),
};
const KEY = objectKey(objectIdOf(LIVE));

describe('S22 S29 the live values of an object', () => {
  it.each<[name: string, answer: Answer, expected: readonly string[]]>([
    ['are shown beside those of git', { client: READ }, ['update', '~ data.key: "canary" → "plain"']],
    [
      'are counted if the commit before encrypts it',
      { client: READ, encryptedBefore: [KEY] },
      ['update', '1 field changes, not shown: the commit before encrypts the object'],
    ],
    ['are in the answer of the server', { client: REFUSED }, ['refused', 'data.key: "canary" cannot change']],
    [
      'are in no answer that is shown if the commit before encrypts it',
      { client: REFUSED, encryptedBefore: [KEY] },
      [
        'refused',
        'apply ConfigMap default/a: Invalid. The answer is not shown, because the object is encrypted in git',
      ],
    ],
  ])('%s', async (_, answer, expected) => {
    expect(await preview([configMap('a', { key: 'plain' })], answer)).toEqual([expected]);
  });
});

describe('S22 the changes that a preview shows', () => {
  it('asks for no further object once its time is over, and passes its signal to each call', async () => {
    const stop = new AbortController();
    const asked: (AbortSignal | undefined)[] = [];
    const client: Partial<Client> = {
      ...READ,
      apply: async <T>(_: unknown, object: unknown, { signal }: { readonly signal?: AbortSignal }) => {
        asked.push(signal);
        stop.abort(new Error('the plan takes longer than 10 min'));
        return object as T;
      },
    };
    const objects = Array.from({ length: 100 }, (_, index) => configMap(`c${index}`));
    await expect(preview(objects, { client, signal: stop.signal })).rejects.toThrow('longer than 10 min');
    expect(asked.length).toBeLessThan(20);
    expect(new Set(asked)).toEqual(new Set([stop.signal]));
  });
});
