import { describe, expect, it } from 'vitest';
import type { LedgerGrant, Machine } from '../../../../../src/api/generated/types.ts';
import {
  ANNOTATION_DRAIN_HOOK,
  type ForeignMachine,
  type SteadyCondition,
} from '../../../../../src/controllers/following/clusterapi/contract.ts';
import {
  type DisruptionInput,
  type DisruptionWrite,
  planDisruption,
} from '../../../../../src/controllers/following/clusterapi/disruption/plan.ts';
import { optional } from '../../../../../src/kube/objects/optional.ts';
import { NOW } from '../../../../support/virtual-clock.ts';
import { ours, theirNode, theirs } from '../objects.ts';

const LATER = new Date(NOW.getTime() + 600_000).toISOString();
const SINCE = new Date(NOW.getTime() - 60_000).toISOString();
const ACT = `Reboot for RemedyOperationJob job-1 of gpu-xid since ${SINCE}`;
const HOOK = `${ACT}, grant g1`;
const STEADY = {
  status: 'True',
  reason: 'Steady',
  message: 'kubenode does nothing that disrupts this machine',
  since: SINCE,
};
const DISRUPTED = {
  status: 'False',
  reason: 'Disrupted',
  message: `${ACT}. More: kubenode why machine node-1`,
};
const HELD = {
  status: 'True',
  reason: 'Held',
  message: 'the machine is held: forensics. To end it: kubenode machine release node-1',
};

function grant(change: Partial<LedgerGrant> = {}): LedgerGrant {
  return {
    id: 'g1',
    fence: 7,
    state: 'Started',
    holder: { kind: 'RemedyOperationJob', name: 'job-1', origin: 'gpu-xid' },
    action: 'Reboot',
    risk: 'Node',
    issuedAt: SINCE,
    notAfter: LATER,
    ...change,
  };
}

function held(until?: string): Machine {
  const machine = ours(1);
  const hold = { reason: 'forensics', scope: 'All', ...(until === undefined ? {} : { until }) } as const;
  return { ...machine, spec: { ...machine.spec, hold } };
}

function hooked(hook: string, changes: Partial<ForeignMachine> = {}): ForeignMachine {
  return theirs(1, { annotations: { [ANNOTATION_DRAIN_HOOK]: hook }, ...changes });
}

function planFor({
  theirs: machine = theirs(1, { steady: STEADY }),
  ...input
}: Partial<Omit<DisruptionInput, 'theirs'>> & {
  readonly theirs?: ForeignMachine;
}): readonly Omit<DisruptionWrite, 'theirs'>[] {
  const { writes } = planDisruption({
    theirs: [machine],
    machines: [ours(1)],
    nodeOf: () => theirNode(1),
    grants: {},
    now: NOW,
    ...input,
  });
  return writes.map(({ hook, condition }) => ({
    ...optional('hook', hook),
    ...optional('condition', condition),
  }));
}

type Row = [it: string, input: Parameters<typeof planFor>[0], expected: ReturnType<typeof planFor>];

const shows: Row[] = [
  ['that a machine has no act and no hold', { theirs: theirs(1) }, [{ condition: withoutSince(STEADY) }]],
  [
    'an act that takes the node down',
    { grants: { 'node-1': grant() } },
    [{ hook: HOOK, condition: DISRUPTED }],
  ],
  [
    'an act that has its grant and has not begun',
    { grants: { 'node-1': grant({ state: 'Granted' }) } },
    [{ hook: HOOK, condition: DISRUPTED }],
  ],
  [
    'a job that may drain the node',
    { grants: { 'node-1': grant({ risk: 'Pod' }) } },
    [{ hook: HOOK, condition: DISRUPTED }],
  ],
  ['the hold of a person', { machines: [held()] }, [{ hook: 'held: forensics', condition: HELD }]],
  [
    'an act before a hold',
    { machines: [held()], grants: { 'node-1': grant() } },
    [{ hook: HOOK, condition: DISRUPTED }],
  ],
  [
    'the next act instead of the one before',
    { theirs: hooked('Drain for another', { steady: STEADY }), grants: { 'node-1': grant() } },
    [{ hook: HOOK, condition: DISRUPTED }],
  ],
  [
    'the end of an act',
    { theirs: hooked(HOOK, { steady: { ...DISRUPTED, since: SINCE } }) },
    [{ hook: null, condition: withoutSince(STEADY) }],
  ],
  [
    'no condition where those of Cluster API have other fields',
    { theirs: theirs(1, { hasConditions: false }), grants: { 'node-1': grant() } },
    [{ hook: HOOK }],
  ],
  [
    'the hold of one of two Machines of kubenode, of which one goes or is a copy',
    { machines: [ours(1), held()] },
    [{ hook: 'held: forensics', condition: HELD }],
  ],
  [
    'nothing on a machine whose Node is in another cluster',
    { theirs: hooked(HOOK), machines: [], nodeOf: () => undefined },
    [],
  ],
  [
    'the end of its hook on a machine that is not followed any more',
    { theirs: hooked(HOOK), machines: [], grants: { 'node-1': grant() } },
    [{ hook: null }],
  ],
  [
    'nothing of the instance that another machine of that name had',
    { theirs: theirs(1, { providerID: 'inst://other' }), grants: { 'node-1': grant() } },
    [],
  ],
];

const writesNothing: Row[] = [
  [
    'when all is shown',
    { theirs: hooked(HOOK, { steady: { ...DISRUPTED, since: SINCE } }), grants: { 'node-1': grant() } },
    [],
  ],
  [
    'for a restart of a program by an update',
    { grants: { 'node-1': grant({ risk: 'Pod', holder: { kind: 'MachineComponentSet', name: 'base' } }) } },
    [],
  ],
  ['for a job that only looks', { grants: { 'node-1': grant({ risk: 'None' }) } }, []],
  ['for an act that is settled', { grants: { 'node-1': grant({ state: 'Settled' }) } }, []],
  ['for an act that is past its end', { grants: { 'node-1': grant({ notAfter: NOW.toISOString() }) } }, []],
  ['for a hold that has ended', { machines: [held(SINCE)] }, []],
  [
    'for the hold of Cluster API itself',
    { machines: [ours(1, { hold: 'ClusterPaused: it is paused' })] },
    [],
  ],
  ['for an act on another machine', { grants: { 'node-2': grant() } }, []],
];

const deleting: Row[] = [
  [
    'gets no hook, and no condition',
    { theirs: theirs(1, { isDeleting: true }), grants: { 'node-1': grant() } },
    [],
  ],
  [
    'waits for the act for which it has the hook',
    { theirs: hooked(HOOK, { isDeleting: true }), grants: { 'node-1': grant() } },
    [],
  ],
  [
    'waits for this act also when its text is another one, as after the ledger was rebuilt',
    {
      theirs: hooked('Reboot for another since yesterday, grant g1', { isDeleting: true }),
      grants: { 'node-1': grant() },
    },
    [],
  ],
  [
    'waits for a person who held it beside the act, after the act',
    { theirs: hooked(HOOK, { isDeleting: true }), machines: [held()] },
    [],
  ],
  [
    'waits for a person who changes the reason of the hold',
    { theirs: hooked('held: looking at it', { isDeleting: true }), machines: [held()] },
    [],
  ],
  [
    'waits for no later act',
    { theirs: hooked('Drain for another', { isDeleting: true }), grants: { 'node-1': grant() } },
    [{ hook: null }],
  ],
  ['is drained after the act', { theirs: hooked(HOOK, { isDeleting: true }) }, [{ hook: null }]],
  [
    'waits while a person holds it',
    { theirs: hooked('held: forensics', { isDeleting: true }), machines: [held()] },
    [],
  ],
];

function withoutSince({ status, reason, message }: typeof STEADY): SteadyCondition {
  return { status, reason, message };
}

describe('planDisruption', () => {
  it.each(shows)('CAP-20 shows on a machine of theirs %s', (_, input, expected) => {
    expect(planFor(input)).toEqual(expected);
  });

  it.each(writesNothing)('writes nothing %s', (_, input, expected) => {
    expect(planFor(input)).toEqual(expected);
  });

  it.each(deleting)('CAP-20 a machine in deletion %s', (_, input, expected) => {
    expect(planFor(input)).toEqual(expected);
  });

  it('is made again when an act or a hold ends by time alone', () => {
    const input = { theirs: [theirs(1), theirs(2)], nodeOf: () => undefined, now: NOW } as const;
    const soon = new Date(NOW.getTime() + 60_000);
    const both = { machines: [held(soon.toISOString()), ours(2)], grants: { 'node-2': grant() } };
    expect(planDisruption({ ...input, ...both }).changesAt).toEqual(soon);
    const none = { machines: [ours(1), ours(2)], grants: {} };
    expect(planDisruption({ ...input, ...none }).changesAt).toBeUndefined();
  });
});
