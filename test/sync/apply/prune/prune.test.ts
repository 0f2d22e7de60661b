import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../../src/kube/objects/object-id.ts';
import type { SyncContext } from '../../../../src/sync/apply/context.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { openInventory } from '../../../../src/sync/apply/inventory/store.ts';
import { planTarget, type TargetPlan } from '../../../../src/sync/apply/plan.ts';
import { type PruneResult, pruneUnits } from '../../../../src/sync/apply/prune/prune.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { NOW, virtualClock } from '../../../support/virtual-clock.ts';
import { createFakeCluster } from '../fake-cluster.ts';
import {
  type ApplyScenario,
  applyInput,
  configMap,
  entry,
  HUB,
  live,
  namespace,
  OLD_COMMIT,
  UNIT,
  unit,
} from '../fixtures.ts';

const a = configMap('a');
const b = configMap('b');
/** Written to the inventory before the first write. */
const INTENDED = intended(a);
const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { kind: 'Widget' } },
};
const ending: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'default', deletionTimestamp: NOW.toISOString() },
};
/** Being deleted, with a finalizer of others, and with our own as well. */
const kept = withFinalizers('kept', 'x/y');
const ours = withFinalizers('ours', 'x/y', 'kubenode.dev/machine');
/** Its name is before that of the one that others keep. */
const first = withFinalizers('a-first', 'kubenode.dev/machine');

function withFinalizers(name: string, ...finalizers: readonly string[]): KubeObject {
  return { ...ending, metadata: { ...ending.metadata, name, finalizers } };
}

const ACKNOWLEDGED = { budget: { maxObjects: 10, maxPercent: 100 } };

function intended(object: KubeObject): InventoryEntry {
  return { ...objectIdOf(object), version: 'v1', unit: UNIT, commit: OLD_COMMIT };
}

interface Pruned {
  readonly result: PruneResult;
  readonly plan: TargetPlan;
  /** Names of the objects left in the cluster, and keys of the entries left in the inventory. */
  readonly left: readonly string[];
  readonly listed: readonly string[];
}

async function prune(scenario: ApplyScenario): Promise<Pruned> {
  const cluster = createFakeCluster();
  const process = cluster.process();
  for (const object of scenario.cluster ?? []) {
    await process.client.create(await process.client.resourceFor(object.apiVersion, object.kind), object);
  }
  const store = await openInventory(process.client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 });
  await store.write({ add: scenario.inventory ?? [], remove: [] });
  // Like a watch, the plan sees only objects with owner labels.
  const observed = scenario.cluster?.filter(({ metadata }) => metadata.labels) ?? [];
  const plan = planTarget(applyInput({ ...scenario, cluster: observed }));
  const context: SyncContext = {
    ...process,
    store,
    hub: HUB,
    scope: '',
    clock: virtualClock(),
    log: memoryLog(),
    serverForms: new Map(),
    applied: async () => undefined,
    signal: new AbortController().signal,
  };
  const result = await pruneUnits(context, plan, { outcomes: new Map(), now: NOW });
  return {
    result,
    plan,
    left: [...cluster.objects.values()]
      .map(({ metadata }) => metadata.name)
      .filter((name) => !name.startsWith('inventory')),
    listed: [...store.inventory().entries.keys()],
  };
}

describe('pruneUnits', () => {
  it('deletes an object that was removed from git, and its inventory entry', async () => {
    const { result, left, listed } = await prune({
      git: [unit(UNIT, [b])],
      inventory: [entry(a), entry(b)],
      cluster: [live(a), live(b)],
      more: ACKNOWLEDGED,
    });
    expect(result).toEqual({ deleted: 1, waiting: [], marked: 0 });
    expect(left).toEqual(['b']);
    expect(listed).toEqual([objectKey(entry(b))]);
  });

  it('S5 deletes nothing in a unit with an object that is not applied', async () => {
    const { result, left } = await prune({
      git: [unit(UNIT, [b])],
      inventory: [entry(a)],
      cluster: [live(a)],
      more: ACKNOWLEDGED,
    });
    expect(result.waiting).toMatchObject([{ object: 'ConfigMap default/a', reason: 'ApplyFirst' }]);
    expect(left).toEqual(['a']);
  });

  it('S2 deletes nothing that is held', async () => {
    const { result, left, listed } = await prune({ inventory: [entry(a)], cluster: [live(a)] });
    expect(result.waiting).toMatchObject([{ object: 'ConfigMap default/a', reason: 'DeletesHeld' }]);
    expect(left).toEqual(['a']);
    expect(listed).toHaveLength(1);
  });

  it('S1 removes the entry of an object only when it is confirmed deleted', async () => {
    const scenario = { git: [unit(UNIT, [b])], inventory: [entry(a), entry(b)], more: ACKNOWLEDGED };
    const missing = await prune({ ...scenario, cluster: [live(b)] });
    expect(missing.listed).toEqual([objectKey(entry(b))]);
  });

  it.each([
    ['whose write was intended and never confirmed', INTENDED],
    ['whose owner labels were removed by hand', entry(a, { uid: 'uid-1' })],
  ])('drops the entry of an object %s, and leaves the object alone', async (_name, listedBefore) => {
    const { result, left, listed } = await prune({
      git: [unit(UNIT, [b])],
      inventory: [listedBefore, entry(b)],
      cluster: [a, live(b)],
      more: ACKNOWLEDGED,
    });
    expect(result).toEqual({ deleted: 0, waiting: [], marked: 0 });
    expect(left).toEqual(['a', 'b']);
    expect(listed).toEqual([objectKey(entry(b))]);
  });

  it('S4 marks a protected object first', async () => {
    const web = namespace('web');
    const scenario: ApplyScenario = {
      git: [unit(UNIT, [b])],
      inventory: [entry(web), entry(b)],
      cluster: [live(web), live(b)],
    };
    const [hold] = planTarget(applyInput(scenario)).holds;
    const acknowledgements = [{ unit: UNIT, planDigest: hold?.planDigest ?? '' }];
    const { result, left } = await prune({ ...scenario, more: { acknowledgements } });
    expect(result).toEqual({ deleted: 0, waiting: [], marked: 1 });
    expect(left).toContain('web');
  });

  it.each([
    { widgets: [ending], marked: 0, waiting: ['Terminating', 'DeleteFirst'] },
    { widgets: [kept], marked: 0, waiting: ['ForeignFinalizer kept', 'DeleteFirst kept'] },
    { widgets: [ours], marked: 0, waiting: ['Terminating', 'DeleteFirst'] },
    { widgets: [kept, ours], marked: 0, waiting: ['DeleteFirst', 'ForeignFinalizer kept', 'Terminating'] },
    { widgets: [first, kept], marked: 0, waiting: ['DeleteFirst', 'ForeignFinalizer kept', 'Terminating'] },
    { widgets: [], marked: 1, waiting: [] },
  ])(
    'SAF-2 deletes a CRD only after the objects of its kind, because without it none of them can be read: $waiting',
    async ({ widgets, marked, waiting }) => {
      const scenario: ApplyScenario = {
        git: [unit(UNIT, [b])],
        inventory: [entry(crd), entry(b), ...widgets.map(intended)],
        cluster: [live(crd), live(b), ...widgets.map((each) => live(each))],
      };
      const [hold] = planTarget(applyInput(scenario)).holds;
      const acknowledgements = [{ unit: UNIT, planDigest: hold?.planDigest ?? '' }];
      const { result } = await prune({ ...scenario, more: { acknowledgements } });
      const shown = result.waiting.map(
        ({ reason, keptByOthers }) => `${reason}${keptByOthers ? ' kept' : ''}`,
      );
      expect(result.marked).toBe(marked);
      expect(shown.toSorted()).toEqual(waiting.toSorted());
    },
  );
});
