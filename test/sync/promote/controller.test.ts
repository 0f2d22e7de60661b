/** The order of writes, and restarts at any call. */
import { describe, expect, it } from 'vitest';
import { checkOf } from '../../rollout/builders.ts';
import { LONG, SEED, slice } from '../../support/sweep-size.ts';
import { HubSimulation } from './simulation/hub-simulation.ts';
import { MINUTE, SECOND, stageOf } from './simulation/simulation.ts';

const STAGES = [
  { name: 'test', soakSeconds: 60, checks: [checkOf({ name: 'ok' })] },
  { name: 'pre', soakSeconds: 30 },
  { name: 'prod', soakSeconds: 60 },
];
const CLUSTERS = ['test-1', 'pre-1', 'prod-1', 'prod-2'];

/** A good commit in three stages; a commit that fails in prod; its revert. */
async function runStory(hub: HubSimulation): Promise<HubSimulation> {
  hub.sim.push('c1', { '*': { app: 'v1' } });
  await hub.run(8 * MINUTE);
  hub.sim.push('c2', { '*': { app: 'v2' }, prod: { app: 'bad2' } });
  await hub.run(6 * MINUTE);
  hub.sim.push('c3', { '*': { app: 'v1' } });
  await hub.run(5 * MINUTE);
  return hub;
}

function outcome(hub: HubSimulation): unknown {
  return {
    histories: CLUSTERS.map((name) => hub.history(name)),
    states: ['c1', 'c2', 'c3'].map((commit) => hub.states(commit)),
    running: CLUSTERS.map((name) => hub.sim.cluster(name).applied?.digest),
    clusters: CLUSTERS.map((name) => hub.clusters.get(name)?.status?.sync?.state),
  };
}

const EXPECTED = {
  histories: [
    ['app=v1', 'app=v2', 'app=v1'],
    ['app=v1', 'app=v2', 'app=v1'],
    ['app=v1', 'app=bad2', 'app=v1'],
    ['app=v1'],
  ],
  states: ['Proven Proven Proven', 'Proven Proven Superseded', 'Proven Proven Proven'],
  running: ['app=v1', 'app=v1', 'app=v1', 'app=v1'],
  clusters: ['Proven', 'Proven', 'Proven', 'Proven'],
};

describe('the promotion controller', () => {
  it('starts no cluster with a commit that a FleetPolicy holds', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    const until = new Date(hub.sim.now + 8 * MINUTE);
    hub.sim.holds = [{ commits: new Set(['c1']), policy: 'fleet', because: 'it failed in a, b', until }];
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(4 * MINUTE);
    expect(CLUSTERS.flatMap((name) => hub.sim.cluster(name).applied?.digest ?? [])).toEqual([]);
    hub.sim.holds = [];
    await hub.run(8 * MINUTE);
    expect(new Set(CLUSTERS.map((name) => hub.sim.cluster(name).applied?.digest))).toEqual(
      new Set(['app=v1']),
    );
  });

  it('records proofs, then starts, and only then sets the target', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(2 * MINUTE);
    const calls = hub.calls.filter((call) => !/^(get|list|accepted)/.test(call));
    expect(calls.slice(0, 3)).toEqual(['create fleet-c1', 'release fleet-c1', 'cluster pre-1']);
    const targeted = calls.indexOf('target pre-1 Apply c1');
    const written = calls.lastIndexOf('cluster pre-1', targeted);
    expect(written).toBeGreaterThan(0);
    expect(calls.lastIndexOf('release fleet-c1', written)).toBeGreaterThan(calls.indexOf('cluster test-1'));
  });

  it('asks for an observation at the end of a soak, and only then', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    hub.sim.push('c1', { '*': { app: 'v1' } });
    const states = new Set<string>();
    for (let second = 0; second < 300; second += 1) {
      await hub.run(SECOND);
      const { observeAt } = hub.sim.cluster('pre-1').target ?? {};
      const { state, message } = hub.clusters.get('pre-1')?.status?.sync ?? {};
      states.add(observeAt ? `${state}: ${message?.replace(observeAt.toISOString(), 'then')}` : `${state}`);
    }
    expect([...states]).toEqual(['Pending', 'Applying', 'Soaking: soaks until then', 'Proven']);
  });

  it('writes nothing in a reconcile without changes', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    await runStory(hub);
    const before = hub.calls.length;
    await hub.reconcile();
    const calls = hub.calls.slice(before).filter((call) => !/^(get|list|accepted|target)/.test(call));
    expect(calls).toEqual([]);
  });

  it('DAT-04 counts each start, proof and failure once, and the time to restore', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    await runStory(hub);
    const good = ['test', 'pre', 'prod'].flatMap((stage) => [`${stage} Proven`, `${stage} Started`]);
    const counts = Object.groupBy(hub.deliveries, (text) => text);
    const found = Object.entries(counts).map(([text, all]) => `${text} ${all?.length}`);
    expect(found.toSorted()).toEqual(
      [
        ...good.map((text) => `${text} ${text === 'prod Proven' ? 2 : 3}`),
        'prod Failed 1',
        'Release Started 3',
        'Release Failed 1',
        'Release Proven 2',
        'Restored 1',
      ].toSorted(),
    );
  });

  it('logs each change once and records it as an Event', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    await runStory(hub);
    expect(hub.events.filter((event) => event.includes('prod-1'))).toEqual([
      'Normal prod-1 SyncPending',
      'Normal prod-1 SyncApplying',
      'Normal prod-1 SyncSoaking',
      'Normal prod-1 SyncProven',
      'Normal prod-1 SyncApplying',
      'Warning prod-1 SyncFailed',
      'Normal prod-1 SyncApplying',
      'Normal prod-1 SyncProven',
    ]);
    expect(new Set(hub.log.lines.map(({ message }) => message))).toEqual(
      new Set(['cluster state changed', 'stage state changed']),
    );
  });

  it('writes conditions and phase of the cluster', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    await runStory(hub);
    const { status } = hub.clusters.get('prod-1') ?? {};
    expect(status?.phase).toBe('Ready');
    expect(status?.conditions.map((each) => `${each.type}=${each.status}`)).toEqual([
      'Reachable=True',
      'IdentityVerified=True',
      'Synced=True',
      'Healthy=True',
      'MachinesReady=Unknown',
      'Progressing=True',
      'Stalled=False',
    ]);
    hub.head = { unread: 'the server answered 503' };
    await hub.settle();
    expect(
      hub.clusters.get('prod-1')?.status?.conditions.find(({ type }) => type === 'Synced'),
    ).toMatchObject({ status: 'Unknown', reason: 'Stale' });
    expect(
      hub.pipelines.get('fleet')?.status?.conditions.find(({ type }) => type === 'SourceReady'),
    ).toMatchObject({ status: 'Unknown', reason: 'Stale' });
  });

  it.each([
    ['a Release cannot be written', /^release/],
    ['the status of a cluster cannot be written', /^cluster/],
    ['the clusters cannot be listed', /^list clusters/],
    ['the commits cannot be read', /^accepted/],
  ])('starts nothing while %s, and continues afterwards', async (_, broken) => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    hub.broken = broken;
    hub.sim.push('c1', { '*': { app: 'v1' } });
    for (let run = 0; run < 5; run++) await hub.reconcile();
    expect(hub.sim.writes).toEqual([]);
    hub.broken = undefined;
    await hub.run(8 * MINUTE);
    expect(hub.states('c1')).toBe('Proven Proven Proven');
  });

  it('continues with the others when the status of one cluster cannot be written', async () => {
    const hub = new HubSimulation({
      stages: [{ name: 'prod', maxConcurrentClusters: 2, soakSeconds: 30 }],
      clusters: ['prod-1', 'prod-2'],
    });
    hub.broken = /^cluster prod-1/;
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.reconcile();
    await hub.reconcile();
    expect(hub.sim.writes.map(({ cluster }) => cluster)).toEqual(['prod-2']);
  });

  it('keeps the slot of a cluster whose proof cannot be written', async () => {
    const hub = new HubSimulation({
      stages: [{ name: 'prod', maxConcurrentClusters: 1, soakSeconds: 30 }],
      clusters: ['prod-1', 'prod-2', 'prod-3'],
    });
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(50 * SECOND);
    hub.broken = /^cluster prod-1/;
    hub.sim.now += MINUTE;
    for (let run = 0; run < 3; run++) await hub.reconcile();
    expect(hub.clusters.get('prod-2')?.status?.sync?.state).toBe('Pending');
    expect(hub.sim.writes.map(({ cluster }) => cluster)).toEqual(['prod-1']);
    hub.broken = undefined;
    await hub.run(5 * MINUTE);
    expect(hub.states('c1')).toBe('Proven');
  });

  it('ignores clusters of another Pipeline, and holds a cluster that both select', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    const { pipeline } = hub.sim;
    const selector = { all: false, matchLabels: { 'kubenode.dev/environment': 'prod' } };
    const stages = [stageOf({ name: 'all', clusterSelector: selector })];
    hub.put(hub.pipelines, { ...pipeline, metadata: { name: 'other' }, spec: { ...pipeline.spec, stages } });
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(10 * MINUTE);
    expect(hub.sim.writes.map(({ cluster }) => cluster)).toEqual(['test-1', 'pre-1']);
    expect(hub.clusters.get('prod-1')?.status?.sync).toMatchObject({
      state: 'Held',
      message: expect.stringContaining('Pipeline other') as string,
    });
    // To observe a cluster is not to hold it.
    expect(hub.clusters.get('prod-1')?.status?.assigned).toBeUndefined();
  });

  it('SAF-6 keeps writing to a cluster that another Pipeline selects later', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    const { pipeline } = hub.sim;
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(10 * MINUTE);
    const stages = [stageOf({ name: 'all', clusterSelector: { all: true } })];
    hub.put(hub.pipelines, {
      ...pipeline,
      metadata: { name: 'another' },
      spec: { ...pipeline.spec, stages },
    });
    hub.sim.push('c2', { '*': { app: 'v2' } });
    await hub.run(10 * MINUTE);
    for (const name of CLUSTERS) {
      const { status } = hub.clusters.get(name) ?? {};
      expect(status?.sync).toMatchObject({ commit: 'c2', state: 'Proven' });
      expect(status?.assigned).toMatchObject({ pipeline: 'fleet', mode: 'Apply' });
    }
  });

  it('applies no conditions and no status of hosting', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: ['test-1'] });
    const cluster = hub.clusters.get('test-1');
    const condition = {
      type: 'EtcdReady',
      status: 'True',
      reason: 'Ok',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    } as const;
    if (!cluster) throw new Error('no cluster');
    hub.put(hub.clusters, {
      ...cluster,
      status: { conditions: [condition], hosted: { rollbackVersion: 'v1.31.0' } },
    });
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.reconcile();
    // The simulated hub replaces the status, so it contains exactly what was applied.
    const sent = hub.clusters.get('test-1')?.status;
    expect(sent?.hosted).toBeUndefined();
    expect(sent?.conditions.map(({ type }) => type)).not.toContain('EtcdReady');
  });

  it('does not run a check again while it runs, or before its interval ends', async () => {
    const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
    const runs: number[] = [];
    hub.sim.checkResult = () => {
      runs.push(hub.sim.now);
      return 'Passed';
    };
    hub.sim.push('c1', { '*': { app: 'v1' } });
    await hub.run(100 * SECOND);
    const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
    expect(runs.length).toBeGreaterThan(1);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30 * SECOND);
  });
});

describe('S39 reaches the same end when the controller is killed at any call', () => {
  it('reaches the expected end without a kill', async () => {
    const hub = await runStory(new HubSimulation({ stages: STAGES, clusters: CLUSTERS }));
    expect(outcome(hub)).toEqual(EXPECTED);
  });

  it(
    `reaches the same end, whichever call is the last of a process (${LONG ? 'all' : `slice of seed ${SEED}`})`,
    async () => {
      const clean = await runStory(new HubSimulation({ stages: STAGES, clusters: CLUSTERS }));
      const all = clean.calls.flatMap((_, index) => [
        { at: index + 1, when: 'before' as const },
        { at: index + 1, when: 'after' as const },
      ]);
      for (const kill of slice(all, 40)) {
        const hub = new HubSimulation({ stages: STAGES, clusters: CLUSTERS });
        hub.kill = kill;
        await runStory(hub);
        expect({ kill, ...(outcome(hub) as object) }).toEqual({ kill, ...EXPECTED });
        expect({ kill, short: shortSoaks(hub) }).toEqual({ kill, short: [] });
      }
    },
    LONG ? 12 * 3_600_000 : 600_000,
  );
});

/** Stages that were proven before their soak had passed since the last write. */
function shortSoaks(hub: HubSimulation): string[] {
  const first = [...hub.releases.values()].find(({ spec }) => spec.commit === 'c1');
  return STAGES.flatMap(({ name, soakSeconds }) => {
    const proven = Date.parse(first?.status?.stages?.find((each) => each.name === name)?.provenAt ?? '');
    const writes = hub.sim.writes.filter(
      ({ cluster, commit }) => cluster.startsWith(name) && commit === 'c1',
    );
    const applied = Math.max(...writes.map(({ at }) => at)) + 30 * SECOND;
    return proven - applied >= soakSeconds * SECOND ? [] : [`${name}: ${(proven - applied) / SECOND} s`];
  });
}
