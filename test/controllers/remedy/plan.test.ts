import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { nextFinding, type RemedyFinding } from '../../../src/controllers/remedy/findings.ts';
import {
  planRemedy,
  type RemedyPlanInput,
  type RuleOnMachine,
} from '../../../src/controllers/remedy/plan.ts';
import type { MatchBound } from '../../../src/controllers/remedy/targets.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, condition, machine, NOW, node } from '../../support/builders.ts';
import { type JobParts, remedier, remedyJob } from '../../support/remediers.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
const DIGEST = `sha256:${'a'.repeat(64)}`;
const WITHIN: MatchBound = { targets: 40, unseen: 0, matched: 1, unknown: 0, limit: 2, percent: 5 };

function finding(outcome: RemedyFinding['outcome'] = 'Match', sinceSeconds = 300): RemedyFinding {
  return { outcome, because: `it is ${outcome}`, since: new Date(ago(sinceSeconds)), isSinceKnown: true };
}

interface RuleParts {
  readonly name?: string;
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finding?: RemedyFinding;
  readonly bound?: Partial<MatchBound>;
}

function rule(parts: RuleParts = {}): RuleOnMachine {
  const { name = 'kernel-hang', changes = {}, annotations = COMMIT, bound = {} } = parts;
  return {
    remedier: remedier(changes, { name, annotations }),
    digest: DIGEST,
    finding: parts.finding ?? finding(),
    bound: { ...WITHIN, ...bound },
  };
}

function liveNode(metadata: Parameters<typeof node>[2] = {}): KubeObject {
  const found = node('m-1', 'False', { uid: 'node-uid-1', ...metadata });
  return { ...found, status: { ...(found['status'] as object), nodeInfo: { bootID: 'boot-1' } } };
}

function planned(rules: readonly RuleOnMachine[], more: Partial<RemedyPlanInput> = {}) {
  const input = {
    machine: machine('m-1'),
    node: liveNode(),
    jobs: [],
    controlPlaneJob: undefined,
    rules,
    now: NOW,
  };
  return planRemedy({ ...input, ...more });
}

function planFor(rules: readonly RuleOnMachine[], more: Partial<RemedyPlanInput> = {}): string[] {
  const plan = planned(rules, more);
  const names = plan.shadow.map(({ jobName }) => `shadow ${jobName}`);
  const waits = [...plan.waits].map(([name, { reason }]) => `${name} ${reason}`);
  return [...(plan.act ? [plan.act.jobName] : []), ...names, ...waits.toSorted()];
}

function untilOf(more: Partial<RemedyPlanInput>, parts: RuleParts = {}): string | undefined {
  const plan = planned([rule(parts)], more);
  return plan.waits.get('kernel-hang')?.until?.toISOString();
}

/** The id of the case of `rule()` on `liveNode()`. */
const [FIRST = ''] = planFor([rule()]);
const CASE = /-(?<id>[0-9a-f]{8})-r1-a1$/.exec(FIRST)?.groups?.['id'] ?? '';

function ended(parts: JobParts): RemedyOperationJob {
  return remedyJob({ case: CASE, begun: 290, ended: 100, outcome: 'Transient', ...parts });
}

const TWO_ATTEMPTS = { '/ladder/0/maxAttempts': 2, '/ladder/0/retrySeconds': 60 };

function withConditions(...conditions: readonly ReturnType<typeof condition>[]): Machine {
  return machine('m-1', { status: { conditions } });
}

function controlPlaneRule(): RuleOnMachine {
  return rule({ changes: { '/target/controlPlane': 'OneAtATime' } });
}

const UNKNOWN: RemedyFinding = {
  ...finding('Indeterminate'),
  unknownSince: new Date(ago(700)),
};
const HAND_OFF = { '/rule/onIndeterminate': { action: 'HandOff', afterSeconds: 600 } };

describe('the plan of a machine of which too little is known', () => {
  it('R5 only hands it off, and tells why', () => {
    const isolate = { '/ladder/1/plan': [{ step: 'Cordon' }, { step: 'HandOff' }] };
    const { act } = planned([rule({ changes: { ...HAND_OFF, ...isolate }, finding: UNKNOWN })]);
    expect(act?.rung.plan.map(({ step }) => step)).toEqual(['HandOff']);
    expect(act?.rung.onVerified).toEqual([]);
    expect(act).toMatchObject({ isUnknown: true, since: UNKNOWN.unknownSince, isSinceKnown: false });
    expect(act?.why).toBe('it is not known for 600 s whether the machine is faulty: it is Indeterminate');
  });

  it('R5 repairs a fault that is known first', () => {
    const known = rule({ name: 'low', changes: { '/priority': 1 } });
    const unknown = rule({ name: 'high', changes: { ...HAND_OFF, '/priority': 900 }, finding: UNKNOWN });
    const { act, waits } = planned([unknown, known]);
    expect(act?.remedier.metadata.name).toBe('low');
    expect(waits.get('high')).toMatchObject({ reason: 'Outranked', message: 'rule low goes first' });
  });

  it.each<[string, Partial<RemedyPlanInput>, string]>([
    ['has no Node', { node: undefined }, 'NoNode'],
    [
      'is held by a person',
      { machine: machine('m-1', { spec: { hold: { reason: 'disk swap', scope: 'All' } } }) },
      'HumanHold',
    ],
    ['was handed off already', { machine: withConditions(condition('NeedsPerson', 'True')) }, 'NeedsPerson'],
  ])('R5 waits where the machine %s', (_, more, reason) => {
    const { act, waits } = planned([rule({ changes: HAND_OFF, finding: UNKNOWN })], more);
    expect([act, waits.get('kernel-hang')?.reason]).toEqual([undefined, reason]);
  });

  it('R5 hands it off once for each case', () => {
    const first = planned([rule({ changes: HAND_OFF, finding: UNKNOWN })]).act;
    const job = remedyJob({ case: first?.case ?? '', begun: 60 });
    const { act, waits } = planned([rule({ changes: HAND_OFF, finding: UNKNOWN })], { jobs: [job] });
    expect([act, waits.get('kernel-hang')?.reason]).toEqual([undefined, 'JobActive']);
  });
});

describe('the plan of a machine', () => {
  it('names the first job after machine, rule and case, and another fault gives another case', () => {
    expect(FIRST).toMatch(/^m-1-kernel-hang-[0-9a-f]{8}-r1-a1$/);
    expect(planFor([rule()])).toEqual([FIRST]);
    expect(planFor([rule({ finding: finding('Match', 301) })])).not.toEqual([FIRST]);
    expect(planFor([rule()], { node: liveNode({ uid: 'node-uid-2' }) })).not.toEqual([FIRST]);
  });

  it.each<[string, RuleParts, readonly string[]]>([
    ['nothing for a machine that is well', { finding: finding('NoMatch') }, []],
    ['the gate', { finding: finding('Held') }, ['kernel-hang GateClosed']],
    ['what is unknown', { finding: finding('Indeterminate') }, ['kernel-hang Indeterminate']],
    ['the others after a start', { bound: { unseen: 3 } }, ['kernel-hang Starting']],
    ['too many matches', { bound: { matched: 3 } }, ['kernel-hang TooManyMatches']],
  ])('waits for %s', (_, parts, plan) => {
    expect(planFor([rule(parts)])).toEqual(plan);
  });

  it.each<[string, RuleParts, readonly string[]]>([
    ['counts only in Observe', { changes: { '/mode': 'Observe' } }, ['kernel-hang Observe']],
    ['shadows in Shadow', { changes: { '/mode': 'Shadow' } }, [`shadow ${FIRST}`, 'kernel-hang Shadow']],
    [
      'never goes beyond Shadow without the commit of sync',
      { annotations: {} },
      [`shadow ${FIRST}`, 'kernel-hang NoCommit'],
    ],
    ['acts in Enforce', {}, [FIRST]],
  ])('R10 R11 lets a rule act only as its mode and its commit permit: it %s', (_, parts, plan) => {
    expect(planFor([rule(parts)])).toEqual(plan);
  });

  it.each<[string, Partial<RemedyPlanInput>, string]>([
    ['has no Node', { node: undefined }, 'NoNode'],
    ['has a Node without a boot id', { node: node('m-1', 'False', { uid: 'node-uid-1' }) }, 'NoNode'],
    ['is being deleted', { machine: machine('m-1', { metadata: { deletionTimestamp: ago(10) } }) }, 'NoNode'],
    ['was handed off', { machine: withConditions(condition('NeedsPerson', 'True')) }, 'NeedsPerson'],
    [
      'is held by a person',
      { machine: machine('m-1', { spec: { hold: { reason: 'disk swap', scope: 'Disruptive' } } }) },
      'HumanHold',
    ],
    [
      'is held by an annotation of its Node',
      { node: liveNode({ annotations: { 'kubenode.dev/hold': '2099-01-01T00:00:00Z; look' } }) },
      'HumanHold',
    ],
    [
      'is excluded',
      { machine: machine('m-1', { metadata: { labels: { 'kubenode.dev/exclude': 'true' } } }) },
      'NodeExcluded',
    ],
    ['has a job at work', { jobs: [remedyJob({ begun: 60 })] }, 'JobActive'],
    ['has a job of another rule at work', { jobs: [remedyJob({ remedier: 'disk' })] }, 'JobActive'],
    ['has a job of a deleted Node', { jobs: [remedyJob({ nodeUID: 'old' })] }, 'JobActive'],
  ])('R36 creates nothing on a machine that %s', (_, more, reason) => {
    expect(planFor([rule()], more)).toEqual([`kernel-hang ${reason}`]);
  });

  it.each([
    ['Disruptive', `m-1-kernel-hang-${CASE}-r2-a1`],
    ['All', 'kernel-hang HumanHold'],
  ] as const)('R36 hands off a machine unless a person holds all of it: %s', (scope, plan) => {
    const more = {
      machine: machine('m-1', { spec: { hold: { reason: 'disk swap', scope } } }),
      jobs: [ended({ outcome: 'Permanent' })],
    };
    expect(planFor([rule()], more)).toEqual([plan]);
  });

  it('acts again when the hold of a person has ended', () => {
    const hold = { reason: 'disk swap', scope: 'All', until: ago(1) } as const;
    expect(planFor([rule()], { machine: machine('m-1', { spec: { hold } }) })).toEqual([FIRST]);
    const until = '2099-01-01T00:00:00.000Z';
    expect(untilOf({ machine: machine('m-1', { spec: { hold: { ...hold, until } } }) })).toBe(until);
  });

  it('waits on a control plane machine while another one has a job', () => {
    const labels = { 'node-role.kubernetes.io/control-plane': '' };
    const more = { node: liveNode({ labels }), controlPlaneJob: 'cp-2-job' };
    expect(planFor([controlPlaneRule()], more)).toEqual(['kernel-hang ControlPlaneBusy']);
    expect(planFor([controlPlaneRule()], { ...more, controlPlaneJob: undefined })).toEqual([FIRST]);
    expect(planFor([controlPlaneRule()], { controlPlaneJob: 'cp-2-job' })).toEqual([FIRST]);
  });

  it.each<[string, Partial<NodeRemedier['spec']> | Readonly<Record<string, unknown>>, JobParts[], string]>([
    ['the next rung after Permanent', TWO_ATTEMPTS, [{ outcome: 'Permanent' }], 'r2-a1'],
    ['the next attempt after Transient', TWO_ATTEMPTS, [{}], 'r1-a2'],
    ['the next rung when no attempt is left', TWO_ATTEMPTS, [{}, { attempt: 2 }], 'r2-a1'],
    ['a person when it is not known what happened', TWO_ATTEMPTS, [{ outcome: 'Ambiguous' }], 'r2-a1'],
    ['the next attempt after a job that was superseded', TWO_ATTEMPTS, [{ outcome: 'Superseded' }], 'r1-a2'],
  ])('takes %s', (_, changes, jobs, next) => {
    expect(planFor([rule({ changes })], { jobs: jobs.map(ended) })).toEqual([
      `m-1-kernel-hang-${CASE}-${next}`,
    ]);
  });

  it('waits between two attempts, and after a job that was cancelled for as long as it keeps the node', () => {
    const later = { '/ladder/0/maxAttempts': 2, '/ladder/0/retrySeconds': 600 };
    const jobs = [ended({})];
    expect(planFor([rule({ changes: later })], { jobs })).toEqual(['kernel-hang RetryLater']);
    expect(untilOf({ jobs }, { changes: later })).toBe(new Date(+NOW + 500_000).toISOString());
    expect(untilOf({ jobs: [ended({ outcome: 'Cancelled' })] })).toBe(
      new Date(+NOW + 14_300_000).toISOString(),
    );
  });

  it('creates nothing more in a case that was handed off, or whose ladder has ended', () => {
    const handedOff = [ended({ outcome: 'Permanent' }), ended({ index: 2, outcome: 'HandedOff' })];
    expect(planFor([rule()], { jobs: handedOff })).toEqual(['kernel-hang HandedOff']);
    const failed = [ended({ index: 2, outcome: 'Permanent' })];
    expect(planFor([rule()], { jobs: failed })).toEqual(['kernel-hang HandedOff']);
  });

  it('does not repair again while the fault of a verified repair has not ended', () => {
    expect(planFor([rule()], { jobs: [ended({ outcome: 'Succeeded' })] })).toEqual(['kernel-hang Verified']);
  });

  it('goes on with the case when the fault comes back soon after its repair, and begins a new one later', () => {
    const soon = { finding: finding('Match', 10) };
    const jobs = [ended({ outcome: 'Succeeded', begun: 500, ended: 300 })];
    expect(planFor([rule(soon)], { jobs })).toEqual([`m-1-kernel-hang-${CASE}-r2-a1`]);
    const long = [ended({ outcome: 'Succeeded', begun: 2000, ended: 1000 })];
    expect(planFor([rule(soon)], { jobs: long })[0]).toMatch(/-r1-a1$/);
    expect(planFor([rule(soon)], { jobs: long })[0]).not.toContain(CASE);
  });

  it('goes on with the case when the fault was away for less than clearSeconds after its repair', () => {
    const back = { finding: { ...finding('Match', 3600), matchedSince: new Date(ago(10)) } };
    const jobs = [ended({ outcome: 'Succeeded', begun: 500, ended: 300 })];
    expect(planFor([rule(back)], { jobs })).toEqual([expect.stringMatching(/-r2-a1$/)]);
  });

  it('goes on with the last case after a restart when nothing recorded how the fault began', () => {
    const unknown: RemedyFinding = { ...finding('Match', 0), isSinceKnown: false };
    const jobs = [ended({ outcome: 'Permanent', begun: 4000, ended: 3000 })];
    expect(planFor([rule({ finding: unknown })], { jobs })).toEqual([`m-1-kernel-hang-${CASE}-r2-a1`]);
    const old = [ended({ outcome: 'Permanent', begun: 90_000, ended: 80_000 })];
    expect(planFor([rule({ finding: unknown })], { jobs: old })[0]).toMatch(/-r1-a1$/);
  });

  it('creates no more jobs than its rule allows in a window, but hands off', () => {
    const changes = { ...TWO_ATTEMPTS, '/perMachine': { maxJobs: 1, windowSeconds: 3600 } };
    const old = ended({ case: 'ffffffff', outcome: 'Succeeded', begun: 3500, ended: 3400 });
    expect(planFor([rule({ changes })], { jobs: [old] })).toEqual(['kernel-hang MaxJobs']);
    expect(untilOf({ jobs: [old] }, { changes })).toBe(new Date(+NOW + 100_000).toISOString());
    expect(planFor([rule({ changes })], { jobs: [ended({ outcome: 'Permanent' })] })).toEqual([
      `m-1-kernel-hang-${CASE}-r2-a1`,
    ]);
  });
});

describe('a fault that comes and goes', () => {
  const changes = [3500, 900, 800, 700, 600].map((seconds) => new Date(ago(seconds)));
  const flapping = { ...finding(), changes };
  const then = (next: string) => ({ finding: flapping, changes: flap(next) });

  it.each([
    ['HandOff', `m-1-kernel-hang-${CASE}-r2-a1`],
    ['NextRung', FIRST],
    ['Hold', 'kernel-hang Flapping'],
  ])('R5 more often than its rule permits: %s', (next, plan) => {
    expect(planFor([rule(then(next))])).toEqual([plan]);
  });

  it('R5 is held until its changes are few enough again, and explains that', () => {
    expect(untilOf({}, then('Hold'))).toBe(new Date(+NOW + 100_000).toISOString());
    const few = { finding: { ...flapping, changes: changes.slice(1) } };
    expect(planFor([rule({ ...then('Hold'), ...few })])).toEqual([FIRST]);
  });

  it('R5 that toggles each 90 s for 2 h costs one job, and then a person gets it with the count', () => {
    const { jobs, messages } = toggle(90, 7200);
    expect(jobs.map((name) => name.replace(/.*-r/, 'r'))).toEqual(['r1-a1', 'r2-a1']);
    expect(messages).toEqual([undefined, 'the fault came or went 3 times in 3600 s, at most 2 are allowed']);
  });
});

describe('a fault that comes and goes while the leader changes', () => {
  it.each([
    ['never', []],
    ['once', [180]],
    ['after each change', Array.from({ length: 80 }, (_, index) => index * 90)],
  ])('R5 costs no more jobs than without that: %s', (_, restarts) => {
    const { jobs, messages } = toggle(90, 7200, restarts);
    expect(jobs.map((name) => name.replace(/.*-r/, 'r'))).toEqual(['r1-a1', 'r2-a1']);
    expect(messages[1]).toBe('the fault came or went 3 times in 3600 s, at most 2 are allowed');
  });

  it('R5 is not known by the jobs of another rule or Node', () => {
    const jobs = [2000, 1000].flatMap((begun) => [
      remedyJob({ begun, ended: begun - 60, outcome: 'Superseded', remedier: 'another' }),
      remedyJob({ begun, ended: begun - 60, outcome: 'Superseded', nodeUID: 'another' }),
    ]);
    expect(planFor([rule({ changes: flap('Hold', 2) })], { jobs })).toEqual([FIRST]);
  });
});

function flap(next: string, maxTransitions = 4): Readonly<Record<string, unknown>> {
  return { '/rule/flap': { windowSeconds: 3600, maxTransitions }, '/rule/flap/then': next };
}

/**
 * Plays a rule with many attempts on a fault that toggles. Each job is superseded as soon as the fault has cleared. Another leader, which
 * remembers nothing, begins at each second of `restarts`.
 */
function toggle(
  everySeconds: number,
  forSeconds: number,
  restarts: readonly number[] = [],
): { jobs: string[]; messages: unknown[] } {
  const attempts = { '/ladder/0/maxAttempts': 5, '/ladder/0/retrySeconds': 300 };
  const many = rule({ changes: { ...attempts, ...flap('HandOff', 2) } });
  const names: string[] = [];
  const messages: unknown[] = [];
  const jobs: RemedyOperationJob[] = [];
  let before: RemedyFinding | undefined;
  for (let second = 0; second <= forSeconds; second += everySeconds) {
    const now = new Date(+NOW + second * 1000);
    const outcome = (second / everySeconds) % 2 === 1 ? 'Match' : 'NoMatch';
    before = nextFinding({
      before: restarts.includes(second) ? undefined : before,
      result: { outcome, because: outcome },
      recorded: undefined,
      clearSeconds: 600,
      now,
    });
    const plan = planRemedy({
      machine: machine('m-1'),
      node: liveNode(),
      jobs,
      controlPlaneJob: undefined,
      rules: [{ ...many, finding: before }],
      now,
    });
    if (!plan.act) continue;
    names.push(plan.act.jobName);
    messages.push(plan.act.why);
    const { index, attempt, case: id } = plan.act;
    const handedOff = index === 2 ? 'HandedOff' : 'Superseded';
    const begun = -second;
    jobs.push(remedyJob({ case: id, index, attempt, begun, ended: begun - 60, outcome: handedOff }));
  }
  return { jobs: names, messages };
}

describe('rules that match the same machine', () => {
  const low = rule({ name: 'a-low', changes: { '/priority': 400 } });
  const high = rule({ name: 'b-high', changes: { '/priority': 600 } });
  const same = rule({ name: 'c-high', changes: { '/priority': 600 } });

  it('R12 give the same single job for any priorities, in whatever order they are listed', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const forms = names.map((name) =>
      [0, 1, 2, 3].map((priority) => rule({ name, changes: { '/priority': priority } })),
    );
    const priorities = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 5, maxLength: 5 });
    const orders = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });
    fc.assert(
      fc.property(priorities, orders, (all, order) => {
        const first = names[all.indexOf(Math.max(...all))] ?? '';
        const listed = order.flatMap((index) => forms[index]?.[all[index] ?? 0] ?? []);
        const [job = '', ...waits] = planFor(listed);
        expect(job).toMatch(new RegExp(`^m-1-${first}-`));
        expect(waits).toEqual(names.filter((name) => name !== first).map((name) => `${name} Outranked`));
      }),
      { numRuns: 1000 },
    );
  });

  it('R12 give one job: of the highest priority, then of the first name, in any order', () => {
    const orders = [
      [low, high, same],
      [same, low, high],
      [high, same, low],
      [same, high, low],
    ];
    for (const rules of orders) {
      const [first = '', ...waits] = planFor(rules);
      expect(first).toMatch(/^m-1-b-high-/);
      expect(waits).toEqual(['a-low Outranked', 'c-high Outranked']);
    }
  });

  it('R12 leave the machine to the next rule when the first one waits', () => {
    const held = rule({ name: 'b-high', changes: { '/priority': 600 }, finding: finding('Held') });
    expect(planFor([low, held])[0]).toMatch(/^m-1-a-low-/);
  });

  it('R12 yield to a rule or a job that covers them, whatever their priority', () => {
    const covered = rule({
      name: 'reboot',
      changes: { '/priority': 900, '/dedup': { coveredBy: ['replace'] } },
    });
    const cover = rule({ name: 'replacement', changes: { '/dedup': { group: 'replace', coveredBy: [] } } });
    const [first = '', ...waits] = planFor([covered, cover]);
    expect(first).toMatch(/^m-1-replacement-/);
    expect(waits).toEqual(['reboot Covered']);
    const job = remedyJob({ remedier: 'other', group: 'replace' });
    expect(planFor([covered], { jobs: [job] })).toEqual(['reboot Covered']);
  });

  it('R12 that cover each other do not keep each other from acting', () => {
    const a = rule({ name: 'a', changes: { '/dedup': { group: 'x', coveredBy: ['y'] } } });
    const b = rule({ name: 'b', changes: { '/dedup': { group: 'y', coveredBy: ['x'] } } });
    expect(planFor([b, a])[0]).toMatch(/^m-1-a-/);
  });
});
