import { describe, expect, it } from 'vitest';
import { MACHINES, NODE_REMEDIERS } from '../../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier } from '../../../../src/api/generated/types.ts';
import type { Denial } from '../../../../src/api/grants.ts';
import { createRemedyController } from '../../../../src/controllers/remedy/controller/controller.ts';
import type { ReconcileContext } from '../../../../src/kube/controller/reconcile-context.ts';
import { EVENTS } from '../../../../src/kube/events/object.ts';
import { NOW } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../support/controller/bed.ts';
import { HUNG_FACTS, type MemoryFacts, memoryFacts, WELL_FACTS } from '../../../support/memory-facts.ts';
import { type MemoryGrants, memoryGrants } from '../../../support/memory-grants.ts';
import { remedier, remedyJob } from '../../../support/remediers.ts';
import { bootedMachine, endJob, jobsOf, REMEDY_KINDS } from '../remedy-bed.ts';

const COMMIT = { annotations: { 'kubenode.dev/commit': '4f2c9e1a77b0' } };
const UNKNOWN_FACT = { '/rule/conditions/all/0/fact': 'weather' };
const HUNG_FOR_LONG = {
  all: [
    {
      fact: 'condition',
      params: { type: 'FrequentTaskHung' },
      path: '$.status',
      operator: 'equal',
      value: 'True',
    },
    {
      fact: 'condition',
      params: { type: 'FrequentTaskHung' },
      path: '$.observedSeconds',
      operator: 'greaterThanInclusive',
      value: 300,
    },
  ],
};
const ALL = { '/target/maxMatchPercent': 100 };

interface Fixture {
  readonly bed: ControllerBed;
  readonly facts: MemoryFacts;
  readonly grants: MemoryGrants;
  readonly options: Parameters<typeof createControllerBed>[0];
  /** By key of the reconcile of a machine: the kinds of which it listed every object, but for rules. */
  readonly listed: string[];
  /** Whether the reconcile that is at work has written a status. */
  readonly writes: { done: boolean };
}

function fixture(rules: readonly NodeRemedier[], machines: readonly string[] = ['m-1']): Fixture {
  const time: { now: () => Date } = { now: () => NOW };
  const facts = memoryFacts(() => time.now());
  for (const name of machines) facts.set(name, WELL_FACTS);
  const grants = memoryGrants({ now: () => time.now() });
  const listed: string[] = [];
  const writes = { done: false };
  const options = {
    kinds: REMEDY_KINDS,
    objects: [...rules, ...machines.flatMap(bootedMachine)],
    /** Each process has its own memory. */
    get controllers() {
      const controller = createRemedyController({ facts, grants });
      const reconcile: typeof controller.reconcile = (key, context) => {
        time.now = () => context.clock.now();
        writes.done = false;
        const applyStatus: typeof context.applyStatus = async (...args) => {
          const applied = await context.applyStatus(...args);
          writes.done = true;
          return applied;
        };
        const view = countingView(key, context, listed);
        return controller.reconcile(key, { ...context, applyStatus, view });
      };
      return [{ ...controller, reconcile }];
    },
  };
  return { bed: createControllerBed(options), facts, grants, options, listed, writes };
}

function countingView(key: string, context: ReconcileContext, listed: string[]): ReconcileContext['view'] {
  return (resource) => {
    const view = context.view(resource);
    const list: typeof view.list = () => {
      const isCounted = key.startsWith('machine/') && resource.kind !== 'NodeRemedier';
      if (isCounted) listed.push(`${key} ${resource.kind}`);
      return view.list();
    };
    return {
      get: (name) => view.get(name),
      byIndex: (...args) => view.byIndex(...args),
      size: view.size,
      list,
    };
  };
}

async function start(...args: Parameters<typeof fixture>): Promise<Fixture> {
  const made = fixture(...args);
  await made.bed.start();
  await made.bed.advance(3000);
  return made;
}

function statusOf(bed: ControllerBed, name = 'kernel-hang'): NodeRemedier['status'] {
  return bed.get<NodeRemedier>(NODE_REMEDIERS, name)?.status;
}

function acceptedOf(bed: ControllerBed, name: string): string | undefined {
  const found = statusOf(bed, name)?.conditions.find(({ type }) => type === 'Accepted');
  return found && `${found.status}: ${found.message}`;
}

function lemon(message: string): Denial {
  return { granted: false, reason: 'Lemon', message, also: [] };
}

function names(bed: ControllerBed): string[] {
  return jobsOf(bed).map(({ metadata }) => metadata.name.replace(/[0-9a-f]{8}/, 'CASE'));
}

/** The only job. */
async function end(
  bed: ControllerBed,
  grants: MemoryGrants,
  outcome: Parameters<typeof endJob>[3],
): Promise<void> {
  const [job] = jobsOf(bed);
  if (!job) throw new Error('there is no job');
  await endJob(bed, grants, job, outcome);
}

/** What a rule counts in this mode while one machine hangs after the other, and how often it acts or would act. */
async function countsIn(mode: 'Shadow' | 'Enforce'): Promise<readonly unknown[]> {
  const { bed, facts } = await start([remedier({ ...ALL, '/mode': mode }, COMMIT)], ['m-1', 'm-2', 'm-3']);
  facts.set('m-1', HUNG_FACTS);
  await bed.advance(30_000);
  facts.set('m-2', HUNG_FACTS);
  facts.set('m-1', WELL_FACTS);
  await bed.advance(60_000);
  const { counts, shadow, matchedMachines } = statusOf(bed) ?? {};
  const acts = mode === 'Enforce' ? jobsOf(bed).length : shadow?.wouldAct;
  return [counts?.matched, counts?.held, counts?.indeterminate, matchedMachines, acts];
}

describe('the remedy controller, of rules', () => {
  it('writes Accepted, digest and commit once, and nothing while nothing changes', async () => {
    const { bed } = await start([remedier({}, COMMIT)]);
    expect(statusOf(bed)).toMatchObject({
      observedGeneration: 1,
      phase: 'Enforcing',
      commit: '4f2c9e1a77b0',
      ruleDigest: expect.stringMatching(/^sha256:/) as string,
    });
    bed.writes();
    await bed.advance(1_200_000);
    expect(bed.writes()).toEqual([]);
  });

  it('accepts the other rules beside one that does not compile and one whose test fails', async () => {
    const { bed } = await start([
      remedier(UNKNOWN_FACT, { name: 'a-bad' }),
      remedier({ '/rule/gate/all/0/operator': 'lessThan' }, { name: 'b-failing' }),
      remedier({}, { name: 'c-good' }),
    ]);
    expect(acceptedOf(bed, 'a-bad')).toMatch(
      /^False: rule a-bad: spec\.rule\.conditions\.all\[0\]\.fact: unknown fact "weather"/,
    );
    expect(acceptedOf(bed, 'b-failing')).toMatch(
      /^False: rule b-failing: spec\.tests\[0\]: test "hung" failed: expected Match, got Held/,
    );
    expect(acceptedOf(bed, 'c-good')).toBe('True: all 4 tests passed');
  });

  it('judges the new rule after a change, and names the new commit when only that changed', async () => {
    const { bed } = await start([remedier(UNKNOWN_FACT)]);
    expect(statusOf(bed)?.phase).toBe('Refused');
    bed.apply(remedier());
    await bed.advance(3000);
    expect([statusOf(bed)?.phase, statusOf(bed)?.commit]).toEqual(['Held', undefined]);
    bed.apply(remedier({}, COMMIT));
    await bed.advance(3000);
    expect([statusOf(bed)?.phase, statusOf(bed)?.commit]).toEqual(['Enforcing', '4f2c9e1a77b0']);
  });

  it('deletes jobs whose time is over, also of a rule that was deleted', async () => {
    const { bed } = await start([
      remedier({ '/job': { ttlSeconds: 86_400, deadlineSeconds: 7200, historyLimit: 200 } }, COMMIT),
    ]);
    const old = { begun: 700_000, ended: 690_000, outcome: 'Succeeded' } as const;
    for (const job of [remedyJob(old), remedyJob({ ...old, remedier: 'deleted' })]) {
      bed.apply(job);
      bed.apply(job, 'status');
    }
    await bed.advance(3000);
    expect(names(bed)).toEqual(['m-1-deleted-CASE-r1-a1']);
  });
});

describe('the remedy controller, of machines', () => {
  it('R8 lists no fleet for a machine whose rule would not act, and it lists one for a machine that matches', async () => {
    const { bed, facts, listed } = await start(
      [remedier({ ...ALL, '/mode': 'Observe' }, { ...COMMIT, name: 'observed' }), remedier(ALL, COMMIT)],
      ['m-1', 'm-2'],
    );
    listed.length = 0;
    facts.set('m-1', {});
    await bed.advance(3000);
    expect(listed).toEqual([]);
    facts.set('m-2', HUNG_FACTS);
    await bed.advance(3000);
    expect(listed).toContain('machine/m-2 Machine');
    expect(listed).not.toContain('machine/m-2 RemedyOperationJob');
    expect(jobsOf(bed)).toHaveLength(1);
  });

  it('R10 creates one job with a grant, evidence and the start of the fault for a machine that matches', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    bed.writes();
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(3000);
    const [job] = jobsOf(bed);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
    expect(job?.spec.grant).toMatchObject({ id: grants.open.get('m-1')?.id, fence: 1 });
    expect(job?.spec.cause.evidence.map(({ fact }) => fact)).toEqual([
      'condition',
      'condition',
      'event',
      'node',
      'history',
    ]);
    const faults = bed
      .get<Machine>(MACHINES, 'm-1')
      ?.status?.faults?.map(({ type, status }) => [type, status]);
    expect(faults).toEqual([
      ['FrequentTaskHung', 'True'],
      ['Ready', 'False'],
    ]);
    expect(statusOf(bed)).toMatchObject({ counts: { matched: 1, inFlight: 1 }, matchedMachines: ['m-1'] });
    expect(bed.writes().slice(0, 2)).toEqual([
      'apply Machine m-1 status',
      expect.stringMatching(/^create RemedyOperationJob m-1-kernel-hang-/) as string,
    ]);
  });

  it('evaluates a machine again when only the time makes its rule match', async () => {
    const { bed, facts } = await start([
      remedier({ ...ALL, '/rule/conditions/all/0': HUNG_FOR_LONG }, COMMIT),
    ]);
    facts.dueSeconds = 100.5;
    facts.set('m-1', {
      ...HUNG_FACTS,
      'condition FrequentTaskHung': { status: 'True', observedSeconds: 200 },
    });
    await bed.advance(90_000);
    expect(jobsOf(bed)).toEqual([]);
    await bed.advance(20_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
  });

  it('R8 evaluates a rule again whose duration reached its value while a status was written', async () => {
    const { bed, facts, writes } = await start([
      remedier({ ...ALL, '/rule/conditions/all/0': HUNG_FOR_LONG }, COMMIT),
    ]);
    facts.dueSeconds = 10.5;
    const { dueInMs } = facts;
    facts.dueInMs = (...args) => (writes.done ? Number.POSITIVE_INFINITY : dueInMs(...args));
    facts.set('m-1', {
      ...HUNG_FACTS,
      'condition FrequentTaskHung': { status: 'True', observedSeconds: 290 },
    });
    await bed.advance(1000);
    expect(jobsOf(bed)).toEqual([]);
    await bed.advance(10_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
  });

  it('R10 counts in Observe and does not ask the Defender', async () => {
    const { bed, facts, grants } = await start([remedier({ ...ALL, '/mode': 'Observe' }, COMMIT)]);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(3000);
    expect([jobsOf(bed).length, grants.open.size]).toEqual([0, 0]);
    expect(statusOf(bed)?.counts?.matched).toBe(1);
  });

  it('R10 asks the Defender in Shadow, records the answer once for each case, and creates no job', async () => {
    const { bed, facts, grants } = await start([remedier({ ...ALL, '/mode': 'Shadow' }, COMMIT)]);
    grants.deny = () => 'stop';
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(60_000);
    expect(statusOf(bed)?.shadow).toEqual({ wouldAct: 0, wouldDeny: 1 });
    grants.deny = () => undefined;
    await bed.advance(120_000);
    expect(statusOf(bed)?.shadow).toEqual({ wouldAct: 1, wouldDeny: 1 });
    expect([jobsOf(bed).length, grants.open.size]).toEqual([0, 0]);
  });

  it('R10 counts in Shadow what it acts on in Enforce, on the same machines and facts', async () => {
    expect(await countsIn('Enforce')).toEqual([1, 0, 0, ['m-2'], 2]);
    expect(await countsIn('Shadow')).toEqual(await countsIn('Enforce'));
  });

  it('R11 creates no job for a rule without the commit of sync', async () => {
    const { bed, facts, grants } = await start([remedier(ALL)]);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(60_000);
    expect([jobsOf(bed).length, grants.open.size, statusOf(bed)?.shadow?.wouldAct]).toEqual([0, 0, 1]);
  });

  it('R12 creates one job when five rules match at once', async () => {
    const rules = [1, 2, 3, 4, 5].map((index) =>
      remedier({ ...ALL, '/priority': index === 4 ? 900 : 100 }, { ...COMMIT, name: `rule-${index}` }),
    );
    const { bed, facts } = await start(rules);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(700_000);
    expect(names(bed)).toEqual(['m-1-rule-4-CASE-r1-a1']);
  });

  it('reports the denial of the Defender, and asks again until it grants', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    grants.deny = () => 'stop';
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(5000);
    expect(statusOf(bed)).toMatchObject({ phase: 'Held', counts: { denied: { KillSwitch: 1 } } });
    expect(jobsOf(bed)).toEqual([]);
    grants.deny = () => undefined;
    await bed.advance(60_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
    expect(statusOf(bed)).toMatchObject({ phase: 'Enforcing', counts: { denied: { KillSwitch: 0 } } });
  });

  it('R26 hands off the fault of a machine whose hardware was repaired too often, and does nothing to it', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    const message = 'machine m-1: 5 repairs of a lemon within 604800 s; the limit is 5';
    grants.deny = (_, ask) => (ask?.risk === 'None' ? undefined : lemon(message));
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(60_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r2-a1']);
    const [created] = jobsOf(bed);
    expect(created?.spec).toMatchObject({ risk: 'None', rung: { name: 'person', index: 2 }, attempt: 1 });
    expect(JSON.stringify(bed.api.objects.list({ resource: EVENTS }, undefined))).toContain(message);
  });

  it('R26 waits with the denial while the Defender denies the hand-off, too', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    grants.deny = (_, ask) => (ask?.risk === 'None' ? 'stop' : lemon('too often'));
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(5000);
    expect(jobsOf(bed)).toEqual([]);
    expect(statusOf(bed)).toMatchObject({ counts: { denied: { Lemon: 1 } } });
    expect(bed.get<Machine>(MACHINES, 'm-1')?.status?.remedyWaits?.[0]?.message).toBe(
      'Lemon: too often; its hand-off is denied: KillSwitch: stop',
    );
    grants.deny = (_, ask) => (ask?.risk === 'None' ? undefined : lemon('too often'));
    await bed.advance(60_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r2-a1']);
  });

  it('R29 records why each rule begins no repair, the reason of the Defender too, and writes nothing while that stays', async () => {
    const rules = [
      remedier(ALL, { ...COMMIT, name: 'a' }),
      remedier({ ...ALL, '/mode': 'Observe' }, { ...COMMIT, name: 'b' }),
      remedier({ ...ALL, '/mode': 'Shadow' }, { ...COMMIT, name: 'c' }),
      remedier({ ...ALL, '/priority': 1 }, { ...COMMIT, name: 'd' }),
    ];
    const { bed, facts, grants } = await start(rules);
    const waits = (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        (bed.get<Machine>(MACHINES, 'm-1')?.status?.remedyWaits ?? []).map(({ rule, reason }) => [
          rule,
          reason,
        ]),
      );
    grants.deny = () => 'stop';
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(5000);
    const denied = { a: 'KillSwitch', b: 'Observe', c: 'KillSwitch', d: 'Outranked' };
    expect(waits()).toEqual(denied);
    bed.writes();
    await bed.advance(700_000);
    expect([waits(), bed.writes()]).toEqual([denied, []]);
    grants.deny = () => undefined;
    await bed.advance(60_000);
    expect(waits()).toEqual({ a: 'JobActive', b: 'Observe', c: 'JobActive', d: 'JobActive' });
    facts.set('m-1', WELL_FACTS);
    await bed.advance(5000);
    expect(waits()).toEqual({});
  });

  it('R29 records a rule whose facts are unknown after a minute, and takes it back when they are known', async () => {
    const { bed, facts } = await start([remedier(ALL, COMMIT)]);
    const reasons = (): readonly unknown[] =>
      (bed.get<Machine>(MACHINES, 'm-1')?.status?.remedyWaits ?? []).map(({ reason }) => reason);
    bed.writes();
    facts.reading = () => {
      throw new Error('no view');
    };
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(50_000);
    expect(reasons()).toEqual([]);
    await bed.advance(15_000);
    expect(reasons()).toEqual(['Indeterminate']);
    facts.reading = () => undefined;
    facts.set('m-1', WELL_FACTS);
    await bed.advance(5000);
    expect(reasons()).toEqual([]);
  });

  it('creates no job when it matches more than it may, and reports it', async () => {
    const machines = ['m-1', 'm-2', 'm-3'];
    const { bed, facts } = await start([remedier({ '/target/maxMatchPercent': 40 }, COMMIT)], machines);
    for (const name of ['m-2', 'm-3']) facts.set(name, HUNG_FACTS);
    await bed.advance(5000);
    expect(statusOf(bed)?.waiting?.message).toBe('2 of 3 targets match, and at most 1 may (40 %)');
    expect(names(bed).length).toBeLessThanOrEqual(1);
    facts.set('m-2', WELL_FACTS);
    await bed.advance(60_000);
    expect(statusOf(bed)?.phase).toBe('Enforcing');
  });

  it('R8 evaluates every other rule when the facts of one throw', async () => {
    const rules = [
      remedier(ALL, { ...COMMIT, name: 'a' }),
      remedier({ ...ALL, '/rule/maxAgeSeconds': { condition: 5 } }, { ...COMMIT, name: 'b' }),
    ];
    const { bed, facts } = await start(rules);
    facts.reading = (_, maxAge) => {
      if (JSON.stringify(maxAge.get('condition')) === '{"seconds":5}') throw new Error('poisoned');
    };
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(5000);
    expect(names(bed)).toEqual(['m-1-a-CASE-r1-a1']);
    expect(statusOf(bed, 'b')?.counts?.indeterminate).toBe(1);
  });

  it('goes on with the next rung when the job failed and the fault stays', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(3000);
    await end(bed, grants, 'Permanent');
    await bed.advance(3000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1', 'm-1-kernel-hang-CASE-r2-a1']);
    expect(new Set(jobsOf(bed).map(({ spec }) => spec.cause.case)).size).toBe(1);
  });

  it('creates nothing more when the fault has ended, and removes it from the record', async () => {
    const { bed, facts, grants } = await start([remedier(ALL, COMMIT)]);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(3000);
    facts.set('m-1', WELL_FACTS);
    await end(bed, grants, 'Succeeded');
    await bed.advance(700_000);
    expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
    expect(bed.get<Machine>(MACHINES, 'm-1')?.status?.faults ?? []).toEqual([]);
  });

  it('R36 forgets a machine that was deleted', async () => {
    const { bed, facts } = await start([remedier({ ...ALL, '/mode': 'Observe' }, COMMIT)]);
    facts.set('m-1', HUNG_FACTS);
    await bed.advance(3000);
    expect(statusOf(bed)?.counts?.matched).toBe(1);
    bed.delete(MACHINES, 'm-1');
    await bed.advance(5000);
    expect(statusOf(bed)?.counts?.matched).toBe(0);
  });

  it('R12 has one job and one grant after a crash at each of its writes', async () => {
    const { facts, grants, options } = fixture([remedier(ALL, COMMIT)]);
    facts.set('m-1', HUNG_FACTS);
    const writes = await sweepCrashes(options, async (bed) => {
      await bed.advance(5000);
      expect(names(bed)).toEqual(['m-1-kernel-hang-CASE-r1-a1']);
      expect(acceptedOf(bed, 'kernel-hang')).toBe('True: all 4 tests passed');
      expect(grants.open.size).toBe(1);
    });
    expect(writes).toBeGreaterThanOrEqual(3);
  });
});
