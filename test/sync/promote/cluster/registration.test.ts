import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { LABEL_HUB, LABEL_UNIT } from '../../../../src/api/names.ts';
import { EMPTY_TARGET } from '../../../../src/sync/commits.ts';
import {
  managedClusters,
  type RegisteredCluster,
  removedClusters,
  sharedClusters,
} from '../../../../src/sync/promote/cluster/registration.ts';
import { LONG, SEED, slice } from '../../../support/sweep-size.ts';
import { clusterOf, reportOf } from '../builders.ts';
import { HubSimulation } from '../simulation/hub-simulation.ts';
import { type Content, MINUTE, SECOND } from '../simulation/simulation.ts';

const FROM_FLEET = { [LABEL_HUB]: 'hub-uid', [LABEL_UNIT]: 'fleet.clusters' };

interface Row {
  readonly name: string;
  /** Recorded in its status. */
  readonly registered?: string;
  /** Of the cluster that answers now. */
  readonly found?: string;
  readonly pinned?: string;
  readonly created?: string;
  readonly mode?: 'Apply' | 'Observe';
  readonly deleting?: boolean;
}

function rowOf({ name, registered, found, pinned, created = '', mode, deleting }: Row): RegisteredCluster {
  const { spec, ...cluster } = clusterOf(pinned ? { clusterUID: pinned } : {});
  const status = {
    conditions: [],
    ...(registered ? { clusterUID: registered } : {}),
    ...(mode ? { assigned: { pipeline: 'fleet', mode } } : {}),
  };
  const metadata = {
    name,
    creationTimestamp: created,
    ...(deleting ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
  };
  return {
    cluster: { ...cluster, spec, metadata, status },
    ...(found ? { report: reportOf({ clusterUID: found }) } : {}),
  };
}

function explain(rows: readonly Row[], removed: readonly string[] = []): string {
  const shared = sharedClusters(rows.map(rowOf), new Set(removed));
  return [...shared]
    .map(([name, each]) => `${name} ${each.kind} ${each.kind === 'Duplicate' ? each.of : each.from}`)
    .toSorted()
    .join('; ');
}

describe('sharedClusters', () => {
  const A = { name: 'a', registered: 'x', found: 'x', created: '2030-01-01T00:00:00Z' } as const;
  const B = { name: 'b', found: 'x', created: '2030-01-02T00:00:00Z' } as const;

  it.each<[name: string, rows: readonly Row[], removed: readonly string[], expected: string]>([
    ['has nothing to say of two clusters', [A, { ...B, found: 'y' }], [], ''],
    ['holds a second Cluster with a registered UID', [A, B], [], 'b Duplicate a'],
    ['holds it in any order', [B, A], [], 'b Duplicate a'],
    [
      'holds it while the first one does not answer',
      [{ name: 'a', registered: 'x' }, B],
      [],
      'b Duplicate a',
    ],
    ['holds it by the UID that git pins', [A, { name: 'b', pinned: 'x' }], [], 'b Duplicate a'],
    [
      'prefers the registered one to an older one',
      [
        { ...A, registered: '' },
        { ...B, registered: 'x' },
      ],
      [],
      'a Duplicate b',
    ],
    [
      'prefers the older of two that were both registered',
      [A, { ...B, registered: 'x' }],
      [],
      'b Duplicate a',
    ],
    ['prefers the older of two that are both new', [B, { ...A, registered: '' }], [], 'b Duplicate a'],
    ['hands over when git removes the first one', [A, B], ['a'], 'a Duplicate b'],
    ['hands over when the first one is being deleted', [{ ...A, deleting: true }, B], [], 'a Duplicate b'],
    [
      'waits until the first one is recorded as stopped',
      [{ ...A, mode: 'Apply' }, B],
      ['a'],
      'a Duplicate b; b TakesOver a',
    ],
    ['continues once it is', [{ ...A, mode: 'Observe' }, B], ['a'], 'a Duplicate b'],
    ['does not hand over to one that git removed as well', [A, B], ['a', 'b'], 'b Duplicate a'],
    [
      'goes by the pin of one whose kubeconfig leads elsewhere',
      [A, { ...B, registered: 'y', found: '' }],
      [],
      '',
    ],
    ['goes by what answers when git pins another UID', [A, { ...B, pinned: 'y' }], [], 'b Duplicate a'],
    ['holds all but one', [A, B, { ...B, name: 'c' }], [], 'b Duplicate a; c Duplicate a'],
    ['does not compare clusters that were never observed', [{ name: 'a' }, { name: 'b' }], [], ''],
  ])('%s', (_, rows, removed, expected) => {
    expect(explain(rows, removed)).toBe(expected);
  });
});

function labeled(name: string, labels: Record<string, string>): Cluster {
  return { ...clusterOf(), metadata: { name, labels } };
}

describe('removedClusters', () => {
  const managed = managedClusters('fleet', [
    labeled('ours', FROM_FLEET),
    labeled('of-another-pipeline', { ...FROM_FLEET, [LABEL_UNIT]: 'fleet2.clusters' }),
    labeled('by-hand', {}),
  ]);

  it.each<[name: string, clusters: readonly string[] | undefined, expected: readonly string[]]>([
    ['what the newest commit does not declare', ['other'], ['ours']],
    ['nothing that it declares', ['ours'], []],
    ['nothing while it is unknown what it declares', undefined, []],
  ])('finds %s, and only of the own repository', (_, clusters, expected) => {
    const newest = { id: 'c1', ...(clusters ? { clusters: new Set(clusters) } : {}) };
    expect([...removedClusters(managed, newest)]).toEqual(expected);
  });
});

describe('renaming a Cluster in git hands its cluster over and deletes nothing in it', () => {
  const STAGES = [
    { name: 'test', soakSeconds: 60 },
    { name: 'prod', soakSeconds: 60 },
  ];
  const V1 = { app: 'v1' };

  /** `prod-1` and later `prod-2` lead to the same cluster. */
  class Rename {
    readonly hub = new HubSimulation({ stages: STAGES, clusters: [] });
    readonly faults: string[] = [];

    constructor() {
      this.add('test-1');
      this.add('prod-1');
      this.hub.sim.onWrite = ({ cluster, digest, commit }) => {
        if (digest === EMPTY_TARGET.digest) this.faults.push(`${cluster}: ${commit} deletes everything`);
        const writers = [...this.hub.sim.clusters.values()].filter(
          ({ uid, target }) => uid === 'prod' && target?.mode === 'Apply',
        );
        if (writers.length > 1) this.faults.push(`two write: ${writers.map(({ name }) => name).join()}`);
      };
    }

    add(name: string): void {
      const cluster = this.hub.sim.addCluster(name, { labels: FROM_FLEET });
      cluster.uid = name.replace(/-.*/, '');
      const twin = [...this.hub.sim.clusters.values()].find(({ uid }) => uid === cluster.uid);
      if (twin) cluster.inventory = twin.inventory;
      this.hub.put(this.hub.clusters, cluster.object());
    }

    async push(id: string, prod: Readonly<Record<string, Content>>): Promise<void> {
      for (const name of Object.keys(prod)) if (!this.hub.clusters.has(name)) this.add(name);
      this.hub.sim.push(id, { 'test-1': V1, ...prod }, ['test-1', ...Object.keys(prod)]);
      await this.hub.run(2 * SECOND);
    }

    state(name: string): string {
      const { sync, clusterUID } = this.hub.clusters.get(name)?.status ?? {};
      return `${sync?.state} ${sync?.commit ?? '-'}${clusterUID ? ' registered' : ''}`;
    }
  }

  async function renamed(kill?: HubSimulation['kill'], content: Content = V1): Promise<Rename> {
    const story = new Rename();
    story.hub.kill = kill;
    await story.push('c1', { 'prod-1': V1 });
    await story.hub.run(5 * MINUTE);
    await story.push('c2', { 'prod-2': content });
    await story.hub.run(5 * MINUTE);
    return story;
  }

  it('stops the old name, then continues under the new one', async () => {
    const story = await renamed();
    expect(story.faults).toEqual([]);
    expect(story.state('prod-1')).toBe('Held c1');
    expect(story.state('prod-2')).toBe('Proven c2 registered');
    expect(story.hub.states('c2')).toBe('Proven Proven');
    expect(story.hub.clusters.get('prod-1')?.status?.sync?.message).toBe(
      'git does not declare Cluster prod-1 any more: nothing is written to it, and its objects stay; Cluster prod-2 continues with its inventory',
    );
  });

  it('applies other content of the same commit under the new name', async () => {
    const story = await renamed(undefined, { app: 'v2' });
    expect(story.faults).toEqual([]);
    expect(story.hub.history('prod-2')).toEqual(['app=v2']);
  });

  it('holds a new name that the commit declares no objects for, and asks for no acknowledgement', async () => {
    const story = new Rename();
    await story.push('c1', { 'prod-1': V1 });
    await story.hub.run(5 * MINUTE);
    story.hub.sim.push('c2', { 'test-1': V1 }, ['test-1', 'prod-2']);
    story.add('prod-2');
    await story.hub.run(5 * MINUTE);
    expect(story.faults).toEqual([]);
    expect(story.hub.clusters.get('prod-2')?.status?.sync).toMatchObject({
      state: 'Held',
      message:
        'c2 declares no objects for prod-2, which has objects of c1: declare them for prod-2 (was clusters/prod-2 not renamed with the Cluster?)',
    });
    await story.push('c3', { 'prod-2': V1 });
    await story.hub.run(5 * MINUTE);
    expect(story.state('prod-2')).toBe('Proven c3 registered');
  });

  it('does nothing for the new name while its stage is on a commit that does not declare it', async () => {
    const story = new Rename();
    await story.push('c1', { 'prod-1': V1 });
    await story.hub.run(5 * MINUTE);
    story.hub.sim.cluster('test-1').trouble = 'Transient';
    story.add('prod-2');
    story.hub.sim.push('c2', { 'test-1': { app: 'v2' }, 'prod-2': V1 }, ['test-1', 'prod-2']);
    await story.hub.run(5 * MINUTE);
    expect(story.faults).toEqual([]);
    expect(story.hub.clusters.get('prod-2')?.status?.sync).toMatchObject({
      state: 'Pending',
      message: 'the commit does not declare Cluster prod-2: waiting for a newer one',
    });
    story.hub.sim.cluster('test-1').trouble = 'None';
    await story.hub.run(5 * MINUTE);
    expect(story.state('prod-2')).toBe('Proven c2 registered');
  });

  it.each(['the old Cluster is still in the hub', 'the old Cluster was deleted'])(
    'goes back by a revert when %s',
    async (name) => {
      const story = await renamed();
      if (name.endsWith('deleted')) story.hub.clusters.delete('prod-1');
      await story.push('c3', { 'prod-1': V1 });
      await story.hub.run(5 * MINUTE);
      expect(story.faults).toEqual([]);
      expect(story.state('prod-1')).toBe('Proven c3 registered');
      expect(story.state('prod-2')).toMatch(/^Held c2$/);
      expect(story.hub.states('c3')).toBe('Proven Proven');
    },
  );

  it('holds the second of two names that both stay in git, and names both', async () => {
    const story = new Rename();
    await story.push('c1', { 'prod-1': V1 });
    await story.hub.run(5 * MINUTE);
    await story.push('c2', { 'prod-1': V1, 'prod-2': { app: 'v2' } });
    await story.hub.run(5 * MINUTE);
    expect(story.faults).toEqual([]);
    expect(story.hub.history('prod-2')).toEqual([]);
    expect(story.state('prod-1')).toBe('Proven c2 registered');
    expect(story.hub.clusters.get('prod-2')?.status?.sync).toMatchObject({
      state: 'Held',
      message:
        'prod-2 leads to the cluster that Cluster prod-1 is registered for (UID prod): nothing is written through prod-2. To rename prod-1, remove it from git; otherwise fix the kubeconfig of prod-2',
    });
    await story.push('c3', { 'prod-2': { app: 'v2' } });
    await story.hub.run(5 * MINUTE);
    expect(story.faults).toEqual([]);
    expect(story.state('prod-2')).toBe('Proven c3 registered');
  });

  it('leaves the cluster alone while the new name has no working kubeconfig', async () => {
    const story = new Rename();
    await story.push('c1', { 'prod-1': V1 });
    await story.hub.run(5 * MINUTE);
    const before = story.hub.sim.writes.length;
    story.add('prod-2');
    Object.assign(story.hub.sim.cluster('prod-2'), { reachable: false, uid: undefined });
    await story.push('c2', { 'prod-2': V1 });
    await story.hub.run(5 * MINUTE);
    expect(story.hub.sim.writes.slice(before)).toEqual([]);
    expect(story.state('prod-1')).toBe('Held c1 registered');
  });

  it(`ends the same when the process is killed at any call (${LONG ? 'all' : `slice of seed ${SEED}`})`, async () => {
    const clean = await renamed();
    const all = clean.hub.calls.flatMap((_, index) => [
      { at: index + 1, when: 'before' as const },
      { at: index + 1, when: 'after' as const },
    ]);
    for (const kill of slice(all, 30)) {
      const story = await renamed(kill);
      expect({ kill, faults: story.faults }).toEqual({ kill, faults: [] });
      expect({ kill, state: story.state('prod-2') }).toEqual({ kill, state: 'Proven c2 registered' });
    }
  });
});
