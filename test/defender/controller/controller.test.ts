import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedgerSpec, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { Denial, Grant } from '../../../src/api/grants.ts';
import { initialLedger } from '../../../src/api/policies/ledger.ts';
import type { Defender } from '../../../src/defender/defender.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { condition, machine, node } from '../../support/builders.ts';
import { clustersLimit, fleetAllowance } from '../allowance/builders.ts';
import { type DefenderBed, defenderBed } from '../bed.ts';
import { ask, breaker, NOW, policy } from '../builders.ts';
import { job } from '../objects.ts';

const SETTINGS = policy({
  blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql: [] },
  concurrency: [{ name: 'all', per: 'Cluster', actions: [], max: 3 }],
  breakers: [
    {
      name: 'unhealthy',
      type: 'UnhealthyRatio',
      per: 'Pool',
      risks: [],
      percent: 50,
      count: 3,
      lift: 2,
      cooldownSeconds: 900,
      probes: 1,
      manualAfterTrips: 5,
    },
  ],
});

/** Machines m-1 to m-6 in the pool web; those that are named are not Ready. */
function fleet(...sick: readonly string[]): readonly KubeObject[] {
  const labels = { 'kubenode.dev/pool': 'web' };
  return Array.from({ length: 6 }, (_, index) => `m-${index + 1}`).flatMap((name) => [
    machine(name, { metadata: { labels } }),
    node(name, sick.includes(name) ? 'False' : 'True'),
  ]);
}

function conditionsOf({ status }: { readonly status?: { conditions: readonly { type: string }[] } }): string {
  const conditions = (status?.conditions ?? []) as readonly ReturnType<typeof condition>[];
  return conditions.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`).join(' ');
}

async function running(bed: DefenderBed): Promise<DefenderBed> {
  await bed.start();
  await bed.advance(5000);
  return bed;
}

/** A job asks for a reboot, which begins at once. */
async function askFor(
  bed: DefenderBed,
  { ledger, observer }: Defender,
  name: string,
): Promise<Grant | Denial | undefined> {
  const holder = { kind: 'RemedyOperationJob', name: `${name}-job`, revision: 'r-1' } as const;
  const nodeUID = observer.facts().machine(name)?.nodeUID ?? '';
  const asking = ledger.ask([
    ask({ machine: name, holder, nodeUID, factsAt: bed.clock.now(), started: true }),
  ]);
  await bed.advance(1000);
  return (await asking)[0];
}

function prometheusAnswer(
  clock: DefenderBed['clock'],
  ...values: readonly string[]
): { readonly body: string } {
  const result = values.map((value) => ({ value: [+clock.now() / 1000, value] }));
  return { body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) };
}

describe('the controller of the Defender', () => {
  it('R23 asks Prometheus while it leads, and every process decides by the recorded answer until it is old', async () => {
    const promql = [{ name: 'paging', query: 'ALERTS' }];
    const blockers = { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql };
    const bed = defenderBed(policy({ ...SETTINGS.spec, blockers }), ...fleet());
    bed.prometheus = prometheusAnswer(bed.clock);
    const leader = await bed.start();
    await bed.advance(15_000);
    const follower = await bed.start();
    await bed.advance(5000);
    expect(await askFor(bed, leader.defender, 'm-1')).toMatchObject({ granted: true });
    expect(await askFor(bed, follower.defender, 'm-2')).toMatchObject({ granted: true });
    bed.prometheus = prometheusAnswer(bed.clock, '1');
    await bed.advance(45_000);
    for (const { defender } of [leader, follower]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await askFor(bed, defender, 'm-3')).toMatchObject({
        reason: 'BlockedByAlert',
        message: 'alert paging is firing: 1 sample',
      });
    }
    bed.prometheus = { problem: 'no answer within 10 s' };
    await bed.advance(45_000);
    expect(await askFor(bed, follower.defender, 'm-3')).toMatchObject({
      reason: 'AlertUnreadable',
      message: 'alert paging could not be read: no answer within 10 s',
    });
    expect(bed.policy().status?.alerts).toMatchObject([{ name: 'paging', state: 'Unknown' }]);
  });

  it('R13 takes a new ledger over at once, and reports that policy and ledger are in force', async () => {
    const bed = await running(defenderBed(SETTINGS, ...fleet()));
    expect(bed.ledger().spec).toMatchObject({ seq: 1, epoch: 1, recovering: false });
    expect(conditionsOf(bed.ledger())).toBe(
      'Ready=True/Written NearFull=False/HasRoom Suspect=False/AllKnown RuleHeld=False/NoneHeld Unrecorded=False/Recorded',
    );
    expect(conditionsOf(bed.policy())).toBe(
      'Accepted=True/Valid InForce=True/Enforced KillSwitchEngaged=False/NotEngaged BreakerOpen=False/AllClosed ZoneDark=False/NoneDark',
    );
    expect(bed.policy().status).toMatchObject({
      phase: 'InForce',
      ledgerSeq: 1,
      usage: [{ rule: 'all', key: 'cluster', used: 0, limit: 3 }],
    });
    const before = bed.api.journal.length;
    await bed.advance(60_000);
    const idle = bed.api.journal.slice(before).filter(({ what }) => !what.includes(' Lease '));
    expect(idle.map(({ what }) => what)).toEqual([]);
  });

  it('lets the counts of the ledger wait for the next report, and reports them', async () => {
    const bed = defenderBed(SETTINGS, ...fleet());
    const { defender } = await bed.start();
    await bed.advance(5000);
    expect(await askFor(bed, defender, 'm-1')).toMatchObject({ granted: true });
    await bed.advance(1500);
    expect(bed.policy().status).toMatchObject({ usage: [{ rule: 'all', used: 1 }] });
    expect(bed.ledger().status?.grants).toMatchObject({ inFlight: 0 });
    await bed.advance(5000);
    expect(bed.ledger().status?.grants).toMatchObject({ inFlight: 1 });
  });

  it('R18 opens a breaker by what is observed, reports why, and half-opens it when cause and cooldown are over', async () => {
    const bed = await running(defenderBed(SETTINGS, ...fleet()));
    bed.apply(...fleet('m-1', 'm-2', 'm-3'));
    await bed.advance(15_000);
    expect(bed.ledger().spec.breakers).toMatchObject({
      'fleet-default/unhealthy/web': { state: 'Open', evidence: '3 of 6 machines are not Ready' },
    });
    expect(bed.policy().status).toMatchObject({
      phase: 'BreakerOpen',
      breakers: [{ name: 'unhealthy', key: 'web', state: 'Open' }],
    });
    expect(conditionOf(bed.policy().status?.conditions, 'BreakerOpen')?.message).toMatch(
      /^unhealthy of web is Open: 3 of 6 machines are not Ready; half open after 2030-/,
    );
    expect(bed.events()).toContain('DefenderBreakerOpened');
    bed.apply(...fleet());
    await bed.advance(930_000);
    expect(bed.ledger().spec.breakers).toMatchObject({
      'fleet-default/unhealthy/web': { state: 'HalfOpen' },
    });
    expect(bed.events()).toContain('DefenderBreakerHalfOpen');
  });

  it('R14 records a machine that a person deleted, and still counts it after a restart', async () => {
    const bed = defenderBed(SETTINGS, ...fleet());
    const { kill } = await bed.start();
    await bed.advance(5000);
    const set = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineSet',
      metadata: { name: 'web' },
      spec: { replicas: 6, template: { labels: {} } },
    };
    bed.apply(set);
    bed.delete(MACHINES, 'm-4');
    await bed.advance(15_000);
    expect(bed.ledger().spec.gone).toMatchObject({ 'm-4': { pool: 'web' } });
    await kill();
    await running(bed);
    expect(bed.ledger().spec.gone).toHaveProperty('m-4');
  });

  it('R14 records a deleted machine later when the ledger is full, and sweeps everything else meanwhile', async () => {
    const labels = { 'kubenode.dev/pool': 'web' };
    const set = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineSet',
      metadata: { name: 'web' },
      spec: { replicas: 600, template: { labels } },
    };
    const since = '2030-01-01T00:00:00Z';
    const deletions = Object.fromEntries(
      Array.from({ length: 512 }, (_, n) => [`old-${n}`, { pool: 'web', since }]),
    );
    const bed = defenderBed(SETTINGS, set, ...fleet());
    const { spec } = bed.ledger();
    bed.apply({ ...initialLedger, spec: { ...spec, seq: 9, epoch: 1, gone: deletions } });
    await running(bed);
    bed.delete(MACHINES, 'm-4');
    await bed.advance(15_000);
    expect(conditionOf(bed.ledger().status?.conditions, 'Ready')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('gone of the ledger: 512 of 512 entries') as string,
    });
    bed.apply(...fleet('m-1', 'm-2', 'm-3').filter(({ metadata: { name } }) => name !== 'm-4'));
    await bed.advance(15_000);
    expect(bed.ledger().spec.breakers).toMatchObject({ 'fleet-default/unhealthy/web': { state: 'Open' } });
    bed.apply({ ...set, spec: { ...set.spec, replicas: 100 } });
    await bed.advance(30_000);
    expect(bed.ledger().spec.gone).toHaveProperty('m-4');
    expect(conditionOf(bed.ledger().status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('R13 settles a grant past its end once its job has ended, and alerts about one that waits', async () => {
    const bed = defenderBed(SETTINGS, ...fleet());
    const { defender } = await bed.start();
    await bed.advance(5000);
    const grant = await askFor(bed, defender, 'm-1');
    if (!grant?.granted) throw new Error(JSON.stringify(grant));
    bed.apply(job('m-1', { grant, status: { steps: [{ id: 'a', state: 'Running' }] } }));
    await bed.advance(920_000);
    expect(bed.ledger().spec.grants['m-1']).toMatchObject({ state: 'Started' });
    expect(conditionOf(bed.ledger().status?.conditions, 'Suspect')).toMatchObject({
      status: 'True',
      message:
        'm-1: RemedyOperationJob m-1-job: it is still active; settle with: kubenode defender settle MACHINE',
    });
    expect(bed.events()).toContain('DefenderGrantSuspect');
    bed.apply(job('m-1', { grant, status: { outcome: { class: 'Permanent' } } }));
    await bed.advance(15_000);
    expect(bed.ledger().spec.grants['m-1']).toMatchObject({ state: 'Settled', outcome: 'Ambiguous' });
  });

  it('shows a field that this version does not act on as Accepted=False with its path, and denies by it', async () => {
    const breakers = [breaker({ name: 'storm', type: 'CommonCause', per: 'Zone', dimensions: ['zone'] })];
    const bed = defenderBed(policy({ breakers }), ...fleet());
    const { defender } = await bed.start();
    await bed.advance(5000);
    expect(bed.policy().status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Accepted',
        status: 'False',
        message: expect.stringContaining('spec.breakers[0].per: not supported in this version') as string,
      }),
    );
    expect(await askFor(bed, defender, 'm-1')).toMatchObject({ granted: false, reason: 'PolicyInvalid' });
  });

  it('shows why a policy is refused, and what was denied because of it', async () => {
    const wrong = policy({ grantSeconds: 300, concurrency: [] });
    const bed = defenderBed(wrong, ...fleet());
    const { defender } = await bed.start();
    await bed.advance(5000);
    expect(conditionsOf(bed.policy())).toMatch(/^Accepted=False\/Invalid InForce=False\/NotAccepted/);
    expect(bed.policy().status?.phase).toBe('Refused');
    expect(await askFor(bed, defender, 'm-1')).toMatchObject({ granted: false, reason: 'PolicyInvalid' });
    await bed.advance(15_000);
    expect(bed.policy().status?.denials).toEqual({ PolicyInvalid: 1 });
  });

  it('R32 recreates a ledger that was deleted, and reports that it recovers', async () => {
    const bed = await running(defenderBed(SETTINGS, ...fleet()));
    bed.delete({ group: '', version: '', kind: 'DefenderLedger', plural: '', namespaced: false }, 'default');
    await bed.advance(15_000);
    expect(bed.ledger().spec.recovering).toBe(true);
    expect(conditionsOf(bed.ledger())).toMatch(/^Ready=False\/Recovering/);
    await bed.advance(330_000);
    expect(bed.ledger().spec.recovering).toBe(false);
    expect(conditionsOf(bed.ledger())).toMatch(/^Ready=True/);
    expect(bed.events()).toEqual(expect.arrayContaining(['DefenderLedgerRecovered']));
  });

  it('ends in the same state wherever a process crashes', async () => {
    const ends = new Set<string>();
    let crashes = 0;
    for (let n = 1, hasCrashed = true; hasCrashed; n += 1) {
      for (const when of ['before', 'after'] as const) {
        const bed = defenderBed(SETTINGS, ...fleet('m-1', 'm-2', 'm-3'));
        const first = await bed.start({ n, when });
        await bed.advance(3000);
        hasCrashed = first.connection.crashed;
        if (!hasCrashed) break;
        crashes += 1;
        await first.kill();
        await bed.start();
        await bed.advance(40_000);
        const { breakers, grants, recovering }: DefenderLedgerSpec = bed.ledger().spec;
        const states = Object.entries(breakers).map(([id, { state, trips }]) => [id, state, trips]);
        ends.add(JSON.stringify([states, grants, recovering, bed.policy().status?.phase]));
      }
    }
    expect(crashes).toBeGreaterThan(8);
    expect([...ends]).toEqual([
      JSON.stringify([[['fleet-default/unhealthy/web', 'Open', 1]], {}, false, 'BreakerOpen']),
    ]);
  });

  it('R13 has one leader of three, and the next one takes over with a higher epoch', async () => {
    const bed = defenderBed(SETTINGS, ...fleet());
    const first = await bed.start();
    await bed.start();
    await bed.start();
    await bed.advance(5000);
    expect(bed.ledger().spec.epoch).toBe(1);
    await first.kill();
    await bed.advance(60_000);
    bed.apply(...fleet('m-1', 'm-2', 'm-3'));
    await bed.advance(15_000);
    expect(bed.ledger().spec).toMatchObject({ epoch: 2, breakers: { 'fleet-default/unhealthy/web': {} } });
  });

  it('adopts the allowance of the hub, keeps to it, and reports which acts wait for a share', async () => {
    const bed = defenderBed(SETTINGS, ...fleet());
    const { defender } = await bed.start();
    await bed.advance(5000);
    const until = new Date(+bed.clock.now() + 300_000).toISOString();
    bed.apply(fleetAllowance({ until, limits: [clustersLimit({ share: 0 })] }));
    await bed.advance(15_000);
    expect(bed.ledger().spec.allowance).toMatchObject({ epoch: 2, seq: 7 });
    expect(await askFor(bed, defender, 'm-1')).toMatchObject({ granted: false, reason: 'FleetLimit' });
    await bed.advance(15_000);
    expect(bed.allowance()?.status).toMatchObject({
      phase: 'InForce',
      seq: 7,
      limits: [{ id: 'fleet/clusters', share: 0, used: 0, requested: 1 }],
    });
    bed.apply(fleetAllowance({ until, seq: 8, limits: [clustersLimit({ share: 1 })] }));
    await bed.advance(15_000);
    expect(await askFor(bed, defender, 'm-1')).toMatchObject({ granted: true });
    await bed.advance(15_000);
    expect(bed.allowance()?.status?.limits).toMatchObject([{ share: 1, used: 1, requested: 0 }]);
  });

  it('reports what failed to the hub where the hub asks for it', async () => {
    const bed = defenderBed(SETTINGS, ...fleet(), failedJob('m-1'), failedJob('m-2'));
    await bed.start();
    await bed.advance(5000);
    const until = new Date(+bed.clock.now() + 300_000).toISOString();
    bed.apply(fleetAllowance({ until, causes: [] }));
    await bed.advance(30_000);
    expect(bed.allowance()?.status).toMatchObject({
      failures: [{ dimension: 'rule', value: 'hang', message: '2 of 2 repairs failed within a day' }],
      failedRollouts: [],
    });
  });
});

/** A repair of the rule `hang` that failed before the Defender started. */
function failedJob(name: string): RemedyOperationJob {
  const conditions = [
    condition('Settled', 'True', { reason: 'Permanent', lastTransitionTime: NOW.toISOString() }),
  ];
  return job(name, { status: { conditions, outcome: { class: 'Permanent' } } });
}
