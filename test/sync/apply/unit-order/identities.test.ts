/** Order, identities and rollbacks of units together, in whole reconciles. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import type { SyncTarget } from '../../../../src/sync/apply/context.ts';
import { REVIEWS } from '../../../../src/sync/apply/identity/access-reviews.ts';
import { openInventory } from '../../../../src/sync/apply/inventory/store.ts';
import { type SyncResult, syncCluster } from '../../../../src/sync/apply/sync-cluster.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { dependsOn } from '../../unit-order/fixtures.ts';
import { createFakeCluster, type FakeCluster } from '../fake-cluster.ts';
import { COMMIT, configMap, HUB, unit } from '../fixtures.ts';

const ACCOUNT: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'team', namespace: 'default' },
};
const [DB, OTHER] = [configMap('db'), configMap('other')];
const WEB = dependsOn(configMap('web'), 'db');
const AS_TEAM = { serviceAccount: 'default/team' };
const BOTH = [unit('db', [DB]), unit('web', [WEB])];
const KEPT = ['db-kept', 'web-kept'].map((name) => configMap(name));

interface Step extends Partial<SyncTarget> {
  /** What the account may not do. */
  readonly denied?: boolean;
}

/** Reconciles with each of the steps, and returns the last result and what is in the cluster. */
async function reconcile(...steps: readonly Step[]): Promise<{ result: SyncResult; names: string }> {
  const cluster = createFakeCluster();
  let result: SyncResult | undefined;
  for (const step of steps) result = await reconcileOnce(cluster, step);
  if (!result) throw new Error('a step is needed');
  const names = [...cluster.objects.values()]
    .map(({ metadata }) => metadata.name)
    .filter((name) => !name.startsWith('inventory'))
    .toSorted();
  return { result, names: names.join(' ') };
}

async function reconcileOnce(cluster: FakeCluster, { denied = false, ...step }: Step): Promise<SyncResult> {
  const { client, live } = cluster.process();
  const create: Client['create'] = async <T>(resource: Resource, object: KubeObject): Promise<T> =>
    resource.kind === REVIEWS.kind
      ? ({ ...object, status: { allowed: !denied } } as T)
      : ((await client.create(resource, object)) as T);
  const answering: Client = { ...client, create, resources: async () => [] };
  const budget = { maxObjects: 100, maxPercent: 100 };
  return syncCluster(
    {
      client: answering,
      live,
      store: await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 }),
      hub: HUB,
      scope: '',
      clock: virtualClock(),
      log: memoryLog(),
      serverForms: new Map(),
      applied: async () => undefined,
      signal: new AbortController().signal,
    },
    { commit: COMMIT, digest: 'sha256:d', units: BOTH, budget, acknowledgements: [], ...step },
  );
}

/** `unit: reason`, of each object that waits. */
function waitsIn({ plan, pruned }: SyncResult): string[] {
  const objects = plan.objects.flatMap(({ unit: name, waitReason }) =>
    waitReason === undefined ? [] : [`${name}: ${waitReason}`],
  );
  return [...objects, ...pruned.waiting.map(({ unit: name, reason }) => `${name}: ${reason}`)].toSorted();
}

describe('a reconcile with an order of units and identities', () => {
  const removed = [unit('db', KEPT.slice(0, 1)), unit('web', KEPT.slice(1))];
  const all = [unit('db', [DB, ...KEPT.slice(0, 1)]), unit('web', [WEB, ...KEPT.slice(1)])];
  const withAccount = [...BOTH, unit('other', [OTHER, ACCOUNT])];

  it.each<[name: string, steps: readonly Step[], names: string, waits: readonly string[]]>([
    [
      'writes a unit as the account that the unit before it brings',
      [
        {
          units: [unit('base', [ACCOUNT]), unit('web', [dependsOn(configMap('web'), 'base')])],
          identities: [{ unit: 'web', ...AS_TEAM }],
        },
      ],
      'team web',
      [],
    ],
    [
      'holds back what depends on a unit that is denied, and writes the others',
      [
        { units: [unit('other', [OTHER, ACCOUNT])] },
        { units: withAccount, identities: [{ unit: 'db', ...AS_TEAM }], denied: true },
      ],
      'other team',
      ['db: IdentityDenied', 'web: UnitNotReady'],
    ],
    [
      'writes both once the access is granted',
      [
        { units: withAccount, identities: [{ unit: 'db', ...AS_TEAM }], denied: true },
        { units: withAccount, identities: [{ unit: 'db', ...AS_TEAM }] },
      ],
      'db other team web',
      [],
    ],
    [
      'deletes nothing of a unit before what depends on it, whose delete is denied',
      [
        { units: [...all, unit('other', [ACCOUNT])] },
        {
          units: [...removed, unit('other', [ACCOUNT])],
          identities: [{ unit: 'web', ...AS_TEAM }],
          denied: true,
        },
      ],
      'db db-kept team web web-kept',
      ['db: AfterDependents', 'web: IdentityDenied'],
    ],
    [
      'returns by a rollback also as an account, in order, a unit that was removed since',
      [
        { units: [unit('other', [ACCOUNT])] },
        {
          units: [...BOTH, unit('other', [ACCOUNT])],
          identities: [{ unit: 'web', ...AS_TEAM }],
          provenBefore: true,
          isRollback: true,
        },
      ],
      'db team web',
      [],
    ],
    [
      'holds back what depends on a paused unit',
      [{ pausedUnits: new Map([['db', 'paused by anna']]) }],
      '',
      ['web: UnitNotReady'],
    ],
  ])('S13, S29 writes units in order under their accounts: %s', async (_, steps, names, waits) => {
    const found = await reconcile(...steps);
    expect([found.names, waitsIn(found.result)]).toEqual([names, waits]);
  });
});
