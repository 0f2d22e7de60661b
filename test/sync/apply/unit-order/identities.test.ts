/** Order, identities and rollbacks of units together, in whole reconciles. */
import { describe, expect, it } from 'vitest';
import type { CallOptions, Client, Patch } from '../../../../src/kube/client/client.ts';
import type { KubeObject, ObjectName, Resource } from '../../../../src/kube/objects/object.ts';
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

interface Reconciled {
  readonly result: SyncResult;
  readonly names: string;
  /** `<verb> <name>: <user>` of each write of the last step, except those of the inventory. */
  readonly writes: readonly string[];
}

/** Reconciles with each of the steps, and returns the last result and what is in the cluster. */
async function reconcile(...steps: readonly Step[]): Promise<Reconciled> {
  const cluster = createFakeCluster();
  let result: SyncResult | undefined;
  let writes: string[] = [];
  for (const step of steps) {
    writes = [];
    result = await reconcileOnce(cluster, step, writes);
  }
  if (!result) throw new Error('a step is needed');
  const names = [...cluster.objects.values()]
    .map(({ metadata }) => metadata.name)
    .filter((name) => !name.startsWith('inventory'))
    .toSorted();
  return { result, names: names.join(' '), writes: writes.toSorted() };
}

async function reconcileOnce(
  cluster: FakeCluster,
  { denied = false, ...step }: Step,
  writes: string[],
): Promise<SyncResult> {
  let verified = false;
  const fence = (): void => {
    if (!verified) throw new Error('the identity of the cluster is not verified');
  };
  const beforeWrite = async (): Promise<void> => void (verified = true);
  const { client, live } = cluster.process({ fence });
  const record = (verb: string, name: string, options: CallOptions | undefined): void => {
    const user = options?.impersonate?.user ?? 'sync';
    if (!name.startsWith('inventory')) writes.push(`${verb} ${name}: ${user}`);
  };
  const create: Client['create'] = async <T>(resource: Resource, object: KubeObject): Promise<T> => {
    fence();
    return resource.kind === REVIEWS.kind
      ? ({ ...object, status: { allowed: !denied } } as T)
      : ((await client.create(resource, object)) as T);
  };
  const answering: Client = {
    ...client,
    create,
    resources: async () => [],
    apply: (resource, object, options) => {
      record('apply', object.metadata.name, options);
      return client.apply(resource, object, options);
    },
    patch: async <T>(_: Resource, { name }: ObjectName, __: Patch, options?: CallOptions) => {
      record('patch', name, options);
      return {} as T;
    },
    delete: (resource, name, options) => {
      record('delete', name.name, options);
      return client.delete(resource, name, options);
    },
  };
  const budget = { maxObjects: 100, maxPercent: 100 };
  return syncCluster(
    {
      client: answering,
      live,
      store: await openInventory(client, {
        clusterUID: 'cluster-uid',
        scope: '',
        epoch: () => 1,
        beforeWrite,
      }),
      beforeWrite,
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

describe('a reconcile with identities', () => {
  it('S29 applies, deletes and releases the objects of a unit as its account, and those of others as sync', async () => {
    const keep = { annotations: { 'kubenode.dev/prune': 'Never' } };
    const [kept, others] = [configMap('kept'), configMap('others-kept')].map((object) => ({
      ...object,
      metadata: { ...object.metadata, ...keep },
    }));
    if (!kept || !others) throw new Error('two objects are needed');
    const both = [
      unit('web', [configMap('web'), configMap('removed'), kept]),
      unit('other', [ACCOUNT, OTHER, configMap('others-removed'), others]),
    ];
    const changed = [
      unit('web', [configMap('web', { key: 'new' })]),
      unit('other', [ACCOUNT, configMap('other', { key: 'new' })]),
    ];
    const identities = [{ unit: 'web', ...AS_TEAM }];
    const { writes } = await reconcile({ units: both }, { units: changed, identities });
    const team = 'system:serviceaccount:default:team';
    expect(writes).toEqual([
      'apply other: sync',
      `apply web: ${team}`,
      'delete others-removed: sync',
      `delete removed: ${team}`,
      `patch kept: ${team}`,
      'patch others-kept: sync',
    ]);
  });
});

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
