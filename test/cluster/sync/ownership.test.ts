/** Who owns what: objects and fields of others are neither overwritten nor deleted, unless git adopts them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { previewLive } from '../../../src/sync/preview/live.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import {
  commitNo,
  configMap,
  expectFullyApplied,
  HUB,
  NEVER,
  startTargetCluster,
  startTestSync,
  type TestSync,
  targetOf,
} from './target-cluster.ts';

const NAME_A = { name: 'a', namespace: 'default' };
const ADOPT = { 'kubenode.dev/adopt': 'Allowed' };
const KEY_A = 'ConfigMap default/a';

let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

describe('objects of others', () => {
  it('SAF-10 are not labeled, overwritten or deleted by commits that name, change and remove them', async () => {
    const theirs = await createTheirs();
    const sync = await startSync();
    const { data: _, ...named } = configMap('a');
    const b = configMap('b');
    const first = await sync.sync(targetOf(commitNo(1), { web: [named, b] }));
    expect(first.outcomes.get(KEY_A)).toMatchObject({
      state: 'failed',
      reason: 'NotOurs',
      retryable: false,
      message: expect.stringContaining('kubenode did not create it (field managers: somebody)') as string,
    });
    expect(first.outcomes.get('ConfigMap default/b')?.state).toBe('applied');
    await sync.sync(targetOf(commitNo(2), { web: [configMap('a', { key: 'ours' }), b] }));
    await expectFullyApplied(sync, targetOf(commitNo(3), { web: [b] }));
    expect(await readA()).toEqual(theirs);
  });

  it('SAF-10 are taken over when git adopts them, and released when git removes them, also after a restart', async () => {
    const { metadata } = await createTheirs();
    const sync = await startSync();
    const [b, adopted] = [configMap('b'), annotated(configMap('a', { key: 'ours' }), ADOPT)];
    await expectFullyApplied(sync, targetOf(commitNo(1), { web: [adopted, b] }));
    expect(await readA()).toMatchObject({
      data: { key: 'ours', more: 'theirs' },
      metadata: { uid: metadata.uid, labels: { 'kubenode.dev/hub': HUB } },
    });
    // The annotation has done its work and is removed from git; the inventory remembers.
    await expectFullyApplied(sync, targetOf(commitNo(2), { web: [configMap('a', { key: 'ours' }), b] }));
    const restarted = await startSync();
    await expectFullyApplied(restarted, targetOf(commitNo(3), { web: [b] }));
    const released = await readA();
    expect(released).toMatchObject({
      data: { key: 'ours', more: 'theirs' },
      metadata: { uid: metadata.uid },
    });
    expect(Object.keys({ ...released.metadata.labels, ...released.metadata.annotations })).toEqual([]);
  });

  it('stay adopted when the inventory is lost', async () => {
    await createTheirs();
    const sync = await startSync();
    const [b, ours] = [configMap('b'), configMap('a', { key: 'ours' })];
    await expectFullyApplied(sync, targetOf(commitNo(1), { web: [annotated(ours, ADOPT), b] }));
    const { items } = await server.client.list(CONFIG_MAPS, { namespace: 'kubenode-system' });
    for (const { metadata } of items.filter((item) => item.metadata.name.startsWith('inventory'))) {
      const { name, uid = '' } = metadata;
      await server.client.delete(CONFIG_MAPS, { name, namespace: 'kubenode-system' }, { uid });
    }
    const restarted = await startSync();
    await expectFullyApplied(restarted, targetOf(commitNo(2), { web: [ours, b] }));
    await expectFullyApplied(restarted, targetOf(commitNo(3), { web: [b] }));
    expect((await readA())['data']).toEqual({ key: 'ours', more: 'theirs' });
  });

  it('SAF-10 are not ours because somebody copied our labels, even if the inventory lists the name', async () => {
    const sync = await startSync();
    const [a, b] = [configMap('a'), configMap('b')];
    await sync.sync(targetOf(commitNo(1), { web: [a, b] }));
    const { metadata } = await readA();
    await server.client.delete(CONFIG_MAPS, NAME_A, { uid: metadata.uid ?? '' });
    const copy = { ...a, metadata: { ...NAME_A, labels: metadata.labels ?? {} } };
    const { metadata: copied } = await server.client.create(CONFIG_MAPS, copy, { fieldManager: 'somebody' });
    const changed = targetOf(commitNo(2), { web: [configMap('a', { key: 'new' }), b] });
    const restarted = await startSync();
    const { outcomes } = await restarted.sync(changed);
    expect(outcomes.get(KEY_A)).toMatchObject({ state: 'failed', reason: 'NotOurs' });
    await expectFullyApplied(restarted, targetOf(commitNo(3), { web: [b] }));
    expect(await readA()).toMatchObject({ data: { key: 'value' }, metadata: { uid: copied.uid } });
  });

  it('S4 are never taken over or pruned when another hub owns them, not even if git adopts them', async () => {
    const other = await startSync('99999999-0000-0000-0000-000000000000');
    await other.sync(targetOf(commitNo(1), { web: [configMap('theirs')] }));
    const ours = await startSync();
    const { plan } = await ours.sync(
      targetOf(commitNo(2), { web: [annotated(configMap('theirs'), ADOPT), configMap('ours')] }),
    );
    expect(plan.objects.map(({ id, action }) => `${id.name} ${action}`)).toEqual([
      'ours create',
      'theirs wait',
    ]);
  });
});

describe('kubenode plan', () => {
  it('shows what would be adopted, refused and released', async () => {
    await createTheirs();
    const ours = configMap('a', { key: 'ours' });
    expect(await previewed({ web: [ours] })).toEqual([
      ['refused', KEY_A, expect.stringContaining('kubenode did not create it')],
    ]);
    expect(await previewed({ web: [annotated(ours, ADOPT)] })).toEqual([
      ['adopt', KEY_A, expect.stringContaining('data.key')],
    ]);
    const sync = await startSync();
    await expectFullyApplied(sync, targetOf(commitNo(1), { web: [annotated(ours, ADOPT), configMap('b')] }));
    expect(await previewed({ web: [configMap('b')] })).toEqual([
      ['release', KEY_A, 'removed from git; another client created it'],
    ]);
  });
});

/** The changes that `kubenode plan` would show: action, object, details. */
async function previewed(units: Record<string, readonly KubeObject[]>): Promise<unknown[]> {
  const { commit, ...target } = targetOf(commitNo(9), units);
  const { units: previews } = await previewLive({
    client: server.client,
    clusterUID: await readClusterUID(server.client, NEVER),
    hub: HUB,
    scope: '',
    target: { ...target, target: 'test' },
    encryptedBefore: new Set(),
    commit,
    limits: { budget: { maxObjects: 1000, maxPercent: 100 }, acknowledgements: [] },
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    signal: NEVER,
  });
  return previews.flatMap(({ changes }) =>
    changes.map(({ action, object, details }) => [action, object, details.join('; ')]),
  );
}

describe('our objects', () => {
  it('are taken back by a revert after git released them', async () => {
    const sync = await startSync();
    const kept = annotated(configMap('a'), { 'kubenode.dev/prune': 'Never' });
    const good = targetOf(commitNo(1), { web: [kept, configMap('b')] });
    await expectFullyApplied(sync, good);
    await expectFullyApplied(sync, targetOf(commitNo(2), { web: [configMap('b')] }));
    expect((await readA()).metadata.labels).toBeUndefined();
    await expectFullyApplied(sync, good);
    expect((await readA()).metadata.labels).toMatchObject({ 'kubenode.dev/hub': HUB });
  });

  it('get their owner labels back when somebody removed them while git declares them', async () => {
    const sync = await startSync();
    const good = targetOf(commitNo(1), { web: [configMap('a'), configMap('b')] });
    await expectFullyApplied(sync, good);
    await removeOwnerLabels();
    expect((await readA()).metadata.labels).toBeUndefined();
    await expectLabeledAgain(sync, good);
  });

  it('SAF-2 get their owner labels back by a revert of the commit that released them', async () => {
    const sync = await startSync();
    const good = targetOf(commitNo(1), { web: [configMap('a'), configMap('b')] });
    await expectFullyApplied(sync, good);
    await removeOwnerLabels();
    const without = targetOf(commitNo(2), { web: [configMap('b')] });
    await expect.poll(async () => (await sync.sync(without)).pruned.waiting).toEqual([]);
    await expectFullyApplied(sync, without);
    expect((await readA()).metadata.labels).toBeUndefined();
    await expectLabeledAgain(sync, good);
  });

  it('S10 keep a field that another manager added when git begins to set it, until git adopts it', async () => {
    const sync = await startSync();
    const good = targetOf(commitNo(1), { web: [configMap('a')] });
    await expectFullyApplied(sync, good);
    const body = { data: { more: 'theirs' } };
    await server.client.patch(CONFIG_MAPS, NAME_A, { type: 'merge', body }, { fieldManager: 'autoscaler' });
    const both = configMap('a', { key: 'value', more: 'ours' });
    const { outcomes } = await sync.sync(targetOf(commitNo(2), { web: [both] }));
    const outcome = outcomes.get(KEY_A);
    expect(outcome).toMatchObject({ state: 'failed', reason: 'FieldConflict', retryable: false });
    const message = outcome?.state === 'failed' ? outcome.message : '';
    expect(message).toContain('"autoscaler"');
    expect(message).toContain('.data.more');
    expect(message).toContain('kubenode.dev/adopt: Allowed');
    await expectFullyApplied(sync, good);
    expect((await readA())['data']).toEqual({ key: 'value', more: 'theirs' });
    await expectFullyApplied(sync, targetOf(commitNo(3), { web: [annotated(both, ADOPT)] }));
    expect((await readA())['data']).toEqual({ key: 'value', more: 'ours' });
  });

  it('S17 win back a field that another manager took, even while git changes it or goes back', async () => {
    const sync = await startSync();
    const first = targetOf(commitNo(1), { web: [configMap('a', { key: 'one' })] });
    const second = targetOf(commitNo(2), { web: [configMap('a', { key: 'two', new: 'field' })] });
    await expectFullyApplied(sync, first);
    for (const next of [second, first]) {
      const taken = configMap('a', { key: 'taken' });
      await server.client.apply(CONFIG_MAPS, taken, { fieldManager: 'somebody', force: true });
      await expectFullyApplied(await startSync(), next);
      expect((await readA())['data']).toEqual(next.units[0]?.objects[0]?.object['data']);
    }
  });
});

async function startSync(hub?: string): Promise<TestSync> {
  const sync = await startTestSync({ ...server.client }, hub);
  onTestFinished(() => sync.close());
  return sync;
}

function createTheirs(): Promise<KubeObject> {
  const theirs = configMap('a', { key: 'theirs', more: 'theirs' });
  return server.client.create(CONFIG_MAPS, theirs, { fieldManager: 'somebody' });
}

function readA(): Promise<KubeObject> {
  return server.client.get(CONFIG_MAPS, NAME_A);
}

function annotated(object: KubeObject, annotations: Record<string, string>): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** As soon as the watch has reported that the labels were removed. */
async function expectLabeledAgain(sync: TestSync, good: SyncTarget): Promise<void> {
  const labelsAfterSync = async (): Promise<unknown> => {
    await sync.sync(good);
    return (await readA()).metadata.labels;
  };
  await expect.poll(labelsAfterSync).toMatchObject({ 'kubenode.dev/unit': 'web' });
  await expectFullyApplied(sync, good);
}

async function removeOwnerLabels(): Promise<void> {
  const labels = { 'kubenode.dev/hub': null, 'kubenode.dev/unit': null };
  await server.client.patch(CONFIG_MAPS, NAME_A, { type: 'merge', body: { metadata: { labels } } });
}
