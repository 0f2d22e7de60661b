import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommitRun } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { LEASES, readLeaseRecord } from '../../../src/kube/leader/record.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { shortCommit } from '../../../src/views/text/age.ts';
import { testIo } from '../../support/test-io.ts';
import { reportShop, SHOP_DEPLOYMENT } from './shop-deployment.ts';
import { STAGES, type Stage, startTestFleet, type TestFleet } from './test-fleet.ts';

/** Each reconcile is a chance to write to the wrong cluster. */
const FAILED_RECONCILES = 3;
const STEPS = ['SyncPromoting', 'SyncSoaking', 'SyncProven'];
const KEPT = { name: 'kept', namespace: 'default' };
const KEPT_FILE = 'clusters/test/web/kept.yaml';
const KEPT_YAML = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: default}\n';
const SETTINGS = { name: 'settings', namespace: 'default' };

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

describe('sync', () => {
  it('S31 promotes commits through the stages, and S35 reverts without a soak', async () => {
    // The first commit is staged too, although it declares its own Clusters.
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);
    expect(await fleet.versions()).toEqual(['1', '1']);
    expect(await fleet.stageOf(first, 'prod')).toMatchObject({
      state: 'Proven',
      clusters: { total: 1, proven: 1 },
    });

    // A bump soaks in each stage; its revert does not.
    const bump = fleet.commit('2', 'bump');
    await fleet.allProven(bump);
    expect(await fleet.versions()).toEqual(['2', '2']);
    const [inProd, inTest] = [await fleet.stageOf(bump, 'prod'), await fleet.stageOf(bump, 'test')];
    expect(Date.parse(inProd.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(inTest.provenAt ?? ''));
    const revert = fleet.commit('1', 'revert');
    await fleet.allProven(revert);
    expect(await fleet.versions()).toEqual(['1', '1']);
    expect(soaked(bump)).toEqual(['test', 'prod']);
    expect(soaked(revert)).toEqual([]);
    await expect.poll(() => eventsOn(bump)).toEqual(expect.arrayContaining(STEPS));

    // The revert did not take its own commit, nor the one before it, out of the history.
    expect(await printed('history', 'prod')).toEqual([
      expect.stringMatching(/^COMMIT +STATE +FROM +UNTIL +AUTHOR +SUBJECT +NOTE$/),
      expect.stringMatching(
        `^${shortCommit(revert)} +Proven +\\d+s ago +now +Ann +revert +same content as ${shortCommit(first)}$`,
      ),
      expect.stringMatching(`^${shortCommit(bump)} +Proven +\\d+s ago +\\d+s ago +Ann +bump$`),
      expect.stringMatching(`^${shortCommit(first)} +Proven +\\d+s ago +\\d+s ago +Ann +first$`),
    ]);
  });

  it('FST-2 records in the Release what each stage changes', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);
    const bump = fleet.commit('2', 'bump');
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: bump });
    const one = { clusters: 1, changed: 1, creates: 0, updates: 1, deletes: 0 };
    const stages = STAGES.map((name) => ({ name, ...one }));
    expect(await fleet.planOf(bump)).toMatchObject({ clusters: 2, changed: 2, deletes: 0, stages });
  });

  it('S2 S3 holds a commit that does not render, or renders to nothing, deletes nothing, and keeps both in the history', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);

    // The commit is held, with file and line, and nothing is written.
    const broken = fleet.commitFiles('broken', { 'clusters/test/web/objects.yaml': 'kind: [\n' });
    await expect.poll(async () => (await fleet.head()).verdict).toBe('RenderFailed');
    const { commit, message } = await fleet.head();
    expect([commit, message?.includes('clusters/test/web/objects.yaml')]).toEqual([broken, true]);
    expect(await fleet.versions()).toEqual(['1', '1']);

    const nothing = fleet.commitFiles('nothing', { 'clusters/test/web/objects.yaml': undefined });
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: nothing, state: 'Held' });
    expect((await fleet.state('test')).message).toContain('renders to nothing');
    expect(await fleet.state('prod')).toMatchObject({ commit: first, state: 'Proven' });
    expect(await fleet.versions()).toEqual(['1', '1']);

    // A commit that restores the content ends the hold.
    const back = fleet.commit('1', 'back');
    await fleet.allProven(back);
    const { clusters, refused } = JSON.parse((await printed('history', '-o', 'json')).join('\n')) as {
      clusters: { cluster: string; history: CommitRun[] }[];
      refused: object[];
    };
    expect(refused).toEqual([expect.objectContaining({ commit: broken, verdict: 'RenderFailed', message })]);
    const ran = { commit: first, state: 'Proven', pipeline: 'fleet', stage: 'test', endedAt: anyText };
    expect(clusters).toMatchObject([
      { cluster: 'prod', history: [{ commit: back, sameContentAs: first }, { commit: first }] },
      {
        cluster: 'test',
        history: [
          { commit: back, state: 'Proven', sameContentAs: first },
          {
            commit: nothing,
            state: 'Held',
            message: expect.stringContaining('renders to nothing') as string,
          },
          ran,
        ],
      },
    ]);
  });

  it('SAF-2 goes on to the next stage while a foreign finalizer keeps what a commit removed, names both, and brings it back by a revert', async () => {
    fleet.commit('1', 'first');
    const first = fleet.commitFiles('kept', { [KEPT_FILE]: KEPT_YAML });
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);
    const { metadata } = await setFinalizers(['example.com/foreign']);

    const removal = fleet.commitFiles('remove', { [KEPT_FILE]: undefined });
    await fleet.allProven(removal);
    const { metadata: kept } = await fleet.clusters.test.client.get(CONFIG_MAPS, KEPT);
    expect([kept.uid, kept.deletionTimestamp]).toEqual([metadata.uid, anyText]);
    expect(await fleet.condition('test', 'Synced')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/ConfigMap default\/kept: .*finalizers example.com\/foreign$/) as string,
    });
    expect((await printed('status')).join('\n')).toMatch(
      /Cluster test: removed from git, and not deleted yet: ConfigMap default\/kept being deleted for \d+s, finalizers example.com\/foreign. No commit/,
    );
    expect((await printed('status', 'test')).join('\n')).toMatch(/ConfigMap default\/kept: ForeignFinalizer/);

    // The server accepts no object of that name before: what git declares is not there, and the message tells why.
    const back = fleet.commitFiles('back', { [KEPT_FILE]: KEPT_YAML });
    await expect
      .poll(() => fleet.state('test'))
      .toMatchObject({
        commit: back,
        state: 'Applying',
        message: expect.stringMatching(
          /ConfigMap default\/kept: being deleted .*finalizers example.com\/foreign; git declares it, so it is created again once that has ended/,
        ) as string,
      });
    expect(await fleet.state('prod')).toMatchObject({ commit: removal });
    await setFinalizers([]);
    await fleet.allProven(back);
    const { metadata: again } = await fleet.clusters.test.client.get(CONFIG_MAPS, KEPT);
    expect([again.uid === metadata.uid, again.deletionTimestamp]).toEqual([false, undefined]);
  });

  it('S12, SAF-18 hands a cluster over when its Cluster is renamed, and back by a revert', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);
    const { metadata } = await fleet.clusters.prod.client.get(CONFIG_MAPS, SETTINGS);

    const renamed = fleet.commit('1', 'rename', { test: 'test', prod: 'prod-b' });
    await expect.poll(() => fleet.state('prod-b')).toMatchObject({ commit: renamed, state: 'Proven' });
    expect(await fleet.state('prod')).toMatchObject({ commit: first, state: 'Held' });

    const back = fleet.commit('1', 'revert');
    await fleet.allProven(back);
    expect(await fleet.state('prod-b')).toMatchObject({ state: 'Held' });
    const { metadata: after } = await fleet.clusters.prod.client.get(CONFIG_MAPS, SETTINGS);
    expect(after.uid).toBe(metadata.uid);
  });

  it('lets only one of two syncs work, and the other one take over when it ends', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    const one = await fleet.sync('one');
    await fleet.allProven(first);
    await fleet.sync('two');
    const bump = fleet.commit('2', 'bump');
    await fleet.allProven(bump);
    expect(await holders()).toEqual(['one', 'one', 'one']);

    await one.close();
    const next = fleet.commit('3', 'next');
    await fleet.allProven(next);
    expect(await fleet.versions()).toEqual(['3', '3']);
    expect(await holders()).toEqual(['two', 'two', 'two']);
  });

  it('shows an object that fails after it was applied under its unit, until it is healthy again', async () => {
    fleet.commit('1', 'first');
    const commit = fleet.commitFiles('shop', { 'clusters/test/shop/objects.yaml': SHOP_DEPLOYMENT });
    await fleet.pipeline();
    await fleet.sync('one');
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit });
    await reportShop(fleet.clusters.test.client, 'False', 'ProgressDeadlineExceeded');
    const unhealthy = [
      { object: 'apps/Deployment default/shop', unit: 'shop', reason: 'ProgressDeadlineExceeded' },
    ];
    await expect.poll(() => fleet.state('test')).toMatchObject({ state: 'Failed', unhealthy });
    const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
    expect(await runCommandLine(io, ['status', 'test'])).toBe(1);
    expect(io.stdout).toMatch(
      /^units\n└─ shop: unhealthy\n {3}└─ apps\/Deployment default\/shop: ProgressDeadlineExceeded \d+s\n/m,
    );
    await reportShop(fleet.clusters.test.client, 'True', 'NewReplicaSetAvailable');
    await expect.poll(() => fleet.state('test')).not.toHaveProperty('unhealthy');
  });

  it('S6 writes nothing to a cluster that is reached with the credentials of another', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);

    // Both clusters need a write at the moment of the swap and afterwards.
    await Promise.all([...STAGES.map((name) => drift(name)), swap()]);
    for (const name of STAGES) {
      await expect
        .poll(() => fleet.condition(name, 'IdentityVerified'))
        .toMatchObject({ status: 'False', reason: 'IdentityMismatch' });
    }
    fleet.commit('2', 'bump');
    const before = await Promise.all(STAGES.map(async (name) => [await drift(name), await contents(name)]));
    await waitForFailedReconciles(FAILED_RECONCILES);
    expect(
      await Promise.all(STAGES.map(async (name) => [await ownerInContent(name), await contents(name)])),
    ).toEqual(before);

    await swap();
    await expect.poll(() => fleet.versions()).toEqual(['2', '2']);
    expect(await Promise.all(STAGES.map(ownerInContent))).toEqual([...STAGES]);
  });
});

function setFinalizers(finalizers: readonly string[]): Promise<KubeObject> {
  const patch = { type: 'merge', body: { metadata: { finalizers } } } as const;
  return fleet.clusters.test.client.patch(CONFIG_MAPS, KEPT, patch, { fieldManager: 'somebody' });
}

const anyText = expect.any(String) as string;

async function printed(...args: readonly string[]): Promise<string[]> {
  const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
  expect(await runCommandLine(io, args)).toBe(0);
  return io.stdout.trimEnd().split('\n');
}

/** The clusters that soaked with a commit, from the log. */
function soaked(commit: string): unknown[] {
  const moves = fleet
    .log()
    .lines.filter(
      ({ message, fields }) => message === 'cluster state changed' && fields['commit'] === commit,
    );
  return moves.filter(({ fields }) => fields['state'] === 'Soaking').map(({ fields }) => fields['cluster']);
}

/** Reasons of the Events on the Release of a commit. */
async function eventsOn(commit: string): Promise<unknown[]> {
  const { items } = await fleet.hub.client.list(EVENTS);
  const name = `fleet-${commit.slice(0, 12)}`;
  return items.filter((event) => textAt(event, 'regarding', 'name') === name).map(({ reason }) => reason);
}

/** The Lease holders of the Pipeline and of each cluster. */
async function holders(): Promise<unknown[]> {
  const { items } = await fleet.hub.client.list(LEASES, { namespace: 'kubenode-system' });
  const ours = items.filter(({ metadata }) => /^(pipeline|cluster)-/.test(metadata.name));
  return ours.map((lease) => readLeaseRecord(lease).holder);
}

/** Changes a field that git sets. Returns whose content it is, from a field that stays unchanged. */
async function drift(name: Stage): Promise<unknown> {
  const { client } = fleet.clusters[name];
  const patch = { type: 'merge', body: { data: { version: 'drift' } } } as const;
  const { data } = await client.patch<{ readonly data: { readonly cluster: string } }>(
    CONFIG_MAPS,
    SETTINGS,
    patch,
  );
  return data.cluster;
}

async function ownerInContent(name: Stage): Promise<unknown> {
  const { data } = await fleet.clusters[name].client.get(CONFIG_MAPS, SETTINGS);
  return (data as { cluster: string }).cluster;
}

/** Every ConfigMap with its resourceVersion, including the inventory. */
async function contents(name: Stage): Promise<unknown[]> {
  const { items } = await fleet.clusters[name].client.list(CONFIG_MAPS);
  return items.map(({ metadata }) => [metadata.namespace, metadata.name, metadata.resourceVersion]);
}

/** Swaps the credentials of the two clusters. */
async function swap(): Promise<void> {
  const { client } = fleet.hub;
  const [test, prod] = await Promise.all(
    STAGES.map((name) => client.get(SECRETS, { namespace: 'kubenode-system', name: `${name}-kubeconfig` })),
  );
  if (!test || !prod) throw new Error('a Secret is missing');
  await client.replace(SECRETS, { ...test, data: prod['data'] });
  await client.replace(SECRETS, { ...prod, data: test['data'] });
}

/** Waits until this many more reconciles of each cluster have failed. */
async function waitForFailedReconciles(times: number): Promise<void> {
  const expected = STAGES.map((name) => failedReconciles(name) + times);
  await expect
    .poll(() => STAGES.every((name, index) => failedReconciles(name) >= (expected[index] ?? 0)))
    .toBe(true);
}

function failedReconciles(cluster: Stage): number {
  const { lines } = fleet.log();
  return lines.filter(
    ({ message, fields }) => message === 'reconcile failed' && fields['cluster'] === cluster,
  ).length;
}
