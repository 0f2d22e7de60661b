import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { LEASES, readLeaseRecord } from '../../../src/kube/leader/record.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { type FleetBed, fleetBed, PATIENCE, STAGES, type Stage } from './fleet-bed.ts';

const LIMIT = { timeout: 600_000 };
/** Each round of a worker is a chance to write to the wrong cluster. */
const REFUSALS = 3;
const STEPS = ['SyncPromoting', 'SyncSoaking', 'SyncProven'];
const SETTINGS = { name: 'settings', namespace: 'default' };

let bed: FleetBed;
beforeAll(async () => {
  bed = await fleetBed();
}, 300_000);
beforeEach(() => bed.reset());
afterAll(() => bed.stop());

describe('sync', () => {
  it('S31 brings commits through the stages, and S35 reverts without a soak', LIMIT, async () => {
    // A first commit: staged, although its Clusters come with it.
    const first = bed.commit('1', 'first');
    await bed.pipeline();
    await bed.sync('one');
    await bed.allProven(first);
    expect(await bed.versions()).toEqual(['1', '1']);
    expect(await bed.stageOf(first, 'prod')).toMatchObject({
      state: 'Proven',
      clusters: { total: 1, proven: 1 },
    });

    // A bump soaks in each stage; its revert does not.
    const bump = bed.commit('2', 'bump');
    await bed.allProven(bump);
    expect(await bed.versions()).toEqual(['2', '2']);
    const [inProd, inTest] = [await bed.stageOf(bump, 'prod'), await bed.stageOf(bump, 'test')];
    expect(Date.parse(inProd.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(inTest.provenAt ?? ''));
    const revert = bed.commit('1', 'revert');
    await bed.allProven(revert);
    expect(await bed.versions()).toEqual(['1', '1']);
    expect(soaked(bump)).toEqual(['test', 'prod']);
    expect(soaked(revert)).toEqual([]);
    await expect.poll(() => eventsOn(bump), PATIENCE).toEqual(expect.arrayContaining(STEPS));
  });

  it('S2 S3 holds what does not render, or renders to nothing, and deletes nothing', LIMIT, async () => {
    const first = bed.commit('1', 'first');
    await bed.pipeline();
    await bed.sync('one');
    await bed.allProven(first);

    // Held at that commit, with file and line; nothing is written on account of it.
    const broken = bed.commitFiles('broken', { 'clusters/test/web/objects.yaml': 'kind: [\n' });
    await expect.poll(async () => (await bed.head()).verdict, PATIENCE).toBe('RenderFailed');
    const { commit, message } = await bed.head();
    expect([commit, message?.includes('clusters/test/web/objects.yaml')]).toEqual([broken, true]);
    expect(await bed.versions()).toEqual(['1', '1']);

    const nothing = bed.commitFiles('nothing', { 'clusters/test/web/objects.yaml': undefined });
    await expect.poll(() => bed.state('test'), PATIENCE).toMatchObject({ commit: nothing, state: 'Held' });
    expect((await bed.state('test')).message).toContain('renders to nothing');
    expect(await bed.state('prod')).toMatchObject({ commit: first, state: 'Proven' });
    expect(await bed.versions()).toEqual(['1', '1']);

    // git takes it back: no hold outlives its cause.
    const back = bed.commit('1', 'back');
    await bed.allProven(back);
  });

  it('lets one of two syncs work, and the other one go on when it ends', LIMIT, async () => {
    const first = bed.commit('1', 'first');
    await bed.pipeline();
    const one = await bed.sync('one');
    await bed.allProven(first);
    await bed.sync('two');
    const bump = bed.commit('2', 'bump');
    await bed.allProven(bump);
    expect(await holders()).toEqual(['one', 'one', 'one']);

    await one.close();
    const next = bed.commit('3', 'next');
    await bed.allProven(next);
    expect(await bed.versions()).toEqual(['3', '3']);
    expect(await holders()).toEqual(['two', 'two', 'two']);
  });

  it('S6 writes nothing to a cluster behind the credentials of another', LIMIT, async () => {
    const first = bed.commit('1', 'first');
    await bed.pipeline();
    await bed.sync('one');
    await bed.allProven(first);

    // There is something to write in both clusters at the very moment of the swap, and from then on.
    await Promise.all([...STAGES.map((name) => drift(name)), swap()]);
    for (const name of STAGES) {
      await expect
        .poll(() => bed.condition(name, 'IdentityVerified'), PATIENCE)
        .toMatchObject({ status: 'False', reason: 'IdentityMismatch' });
    }
    bed.commit('2', 'bump');
    const before = await Promise.all(STAGES.map(async (name) => [await drift(name), await contents(name)]));
    await refusals(REFUSALS);
    expect(await Promise.all(STAGES.map(async (name) => [await home(name), await contents(name)]))).toEqual(
      before,
    );

    await swap();
    await expect.poll(() => bed.versions(), PATIENCE).toEqual(['2', '2']);
    expect(await Promise.all(STAGES.map(home))).toEqual([...STAGES]);
  });
});

/** The clusters that were seen to soak with a commit. */
function soaked(commit: string): unknown[] {
  const moves = bed
    .log()
    .lines.filter(
      ({ message, fields }) => message === 'cluster state changed' && fields['commit'] === commit,
    );
  return moves.filter(({ fields }) => fields['state'] === 'Soaking').map(({ fields }) => fields['cluster']);
}

/** Reasons of the Events on the Release of a commit. */
async function eventsOn(commit: string): Promise<unknown[]> {
  const { items } = await bed.hub.client.list(EVENTS);
  const name = `fleet-${commit.slice(0, 12)}`;
  return items.filter((event) => textAt(event, 'regarding', 'name') === name).map(({ reason }) => reason);
}

/** Who works for the Pipeline and each cluster. */
async function holders(): Promise<unknown[]> {
  const { items } = await bed.hub.client.list(LEASES, { namespace: 'kubenode-system' });
  const ours = items.filter(({ metadata }) => /^(pipeline|cluster)-/.test(metadata.name));
  return ours.map((lease) => readLeaseRecord(lease).holder);
}

/** Somebody changes what git wants there. Says whose content it is, by the part that nobody changed. */
async function drift(name: Stage): Promise<unknown> {
  const { client } = bed.clusters[name];
  const live = await client.get(CONFIG_MAPS, SETTINGS);
  const data = live['data'] as { readonly cluster: string };
  await client.replace(CONFIG_MAPS, { ...live, data: { ...data, version: 'drift' } });
  return data.cluster;
}

async function home(name: Stage): Promise<unknown> {
  const { data } = await bed.clusters[name].client.get(CONFIG_MAPS, SETTINGS);
  return (data as { cluster: string }).cluster;
}

/** Every ConfigMap, the inventory too, in its very version. */
async function contents(name: Stage): Promise<unknown[]> {
  const { items } = await bed.clusters[name].client.list(CONFIG_MAPS);
  return items.map(({ metadata }) => [metadata.namespace, metadata.name, metadata.resourceVersion]);
}

/** Each cluster takes what was the other one's credentials. */
async function swap(): Promise<void> {
  const { client } = bed.hub;
  const [test, prod] = await Promise.all(
    STAGES.map((name) => client.get(SECRETS, { namespace: 'kubenode-system', name: `${name}-kubeconfig` })),
  );
  if (!test || !prod) throw new Error('a Secret is missing');
  await client.replace(SECRETS, { ...test, data: prod['data'] });
  await client.replace(SECRETS, { ...prod, data: test['data'] });
}

/** Until each cluster was tried, and refused, so many times more. */
async function refusals(times: number): Promise<void> {
  const wanted = STAGES.map((name) => lostPasses(name) + times);
  await expect
    .poll(() => STAGES.every((name, index) => lostPasses(name) >= (wanted[index] ?? 0)), PATIENCE)
    .toBe(true);
}

function lostPasses(cluster: Stage): number {
  const { lines } = bed.log();
  return lines.filter(
    ({ message, fields }) => message === 'reconcile failed' && fields['cluster'] === cluster,
  ).length;
}
