import { describe, expect, it } from 'vitest';
import { memberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import type { Condition } from '../../../../src/kube/objects/conditions.ts';
import { drainReport } from '../../../support/agent/drain-report.ts';
import { ago, component, condition, NOW, node } from '../../../support/builders.ts';
import { ownEntries } from '../managed-fields.ts';
import { GENERATION, type MemberParts, NEW, OLD, observed, SET } from './members.ts';

const CONTEXT = {
  set: SET,
  components: new Set(['kubelet', 'runc']),
  timeoutSeconds: 900,
  openBatch: { revision: 'r-new', index: 1, startedAt: new Date(ago(600)) },
  now: NOW,
};

function explain(parts: MemberParts): string {
  const { step, reason, because } = memberState(observed(parts), CONTEXT);
  return `${step} ${reason}: ${because}`;
}

const PROBATION = { currentRef: OLD.componentRef, digest: OLD.digest, state: 'Probation' } as const;
const ROLLED_BACK = { ...PROBATION, state: 'RolledBack', error: { message: 'no answer' } } as const;
const NEEDS_GRANT = {
  state: 'WaitingForGrant',
  waiting: { reason: 'GrantNeeded', since: ago(5), message: 'restart' },
} as const;
const DIFFERS = {
  currentRef: OLD.componentRef,
  digest: OLD.digest,
  state: 'Staged',
  waiting: { reason: 'HostDiffers', since: ago(5), message: 'a file has other content' },
} as const;
const { desiredRef: _desired, ...DRAINS } = drainReport(NEW);
const BUDGET = {
  reason: 'PodDisruptionBudget',
  blocker: { kind: 'PodDisruptionBudget', name: 'web', namespace: 'shop' },
  since: ago(60),
  message: '1 pods left',
};
const ASSIGNMENT = { set: SET, revision: 'r-new', batch: 1 };
const NOT_READY = node('m-1', 'False');
const UNKNOWN = node('m-1', 'Unknown');

function released(secondsAgo: number): Condition {
  return condition('Held', 'False', { lastTransitionTime: ago(secondsAgo) });
}

describe('updateProgress', () => {
  it.each<[what: string, parts: MemberParts, expected: string]>([
    ['no entry', { version: 'None' }, 'Unassigned Unassigned: has no entry of the set yet'],
    ['entries of another set', { set: 'other' }, 'Unassigned Unassigned: has no entry of the set yet'],
    ['committed and healthy', { startedAgo: 60 }, 'Settled Settled: committed and healthy'],
    [
      'entries that the agent has not observed yet',
      { startedAgo: 60, observedGeneration: GENERATION - 1 },
      'InWork NotObserved: the agent has not acted on its entries yet',
    ],
    [
      'entries that the agent observed when they had a grant',
      { startedAgo: 60, observedGeneration: GENERATION - 1, entriesObserved: true },
      'Settled Settled: committed and healthy',
    ],
    [
      'a failure of entries that it no longer has',
      { startedAgo: 60, observedGeneration: GENERATION - 1, report: ROLLED_BACK },
      'InWork NotObserved: the agent has not acted on its entries yet',
    ],
    [
      'an adopted host that differs, however long',
      { startedAgo: 2000, report: DIFFERS },
      'Differs HostDiffers: kubelet: a file has other content',
    ],
    [
      'an adopted host that differs, on a Node that is not Ready yet',
      { startedAgo: 60, report: DIFFERS, node: NOT_READY },
      'InWork NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'an adopted host that differs, on a Node that stays not Ready',
      { startedAgo: 901, report: DIFFERS, node: NOT_READY, readyChangedAgo: 850 },
      'Failed TimedOut: not settled after 900 s: Node m-1 is NotReady',
    ],
    ['probation', { startedAgo: 60, report: PROBATION }, 'InWork Probation: kubelet is Probation'],
    [
      'probation for too long',
      { startedAgo: 901, report: PROBATION },
      'Failed TimedOut: not settled after 900 s: kubelet is Probation',
    ],
    [
      'a long wait on a machine that a person holds',
      { startedAgo: 901, report: PROBATION, annotations: { 'kubenode.dev/hold': '; debugging' } },
      'InWork Probation: kubelet is Probation',
    ],
    [
      'a hold whose end the machine controller has not observed yet',
      { startedAgo: 901, report: PROBATION, conditions: [condition('Held', 'True')] },
      'InWork Probation: kubelet is Probation',
    ],
    [
      'a hold that ended a moment ago: the time starts over',
      { startedAgo: 2000, report: PROBATION, conditions: [released(899)] },
      'InWork Probation: kubelet is Probation',
    ],
    [
      'a hold that ended too long ago',
      { startedAgo: 2000, report: PROBATION, conditions: [released(901)] },
      'Failed TimedOut: not settled after 900 s: kubelet is Probation',
    ],
    [
      'a hold that ended before the update began',
      { startedAgo: 901, report: PROBATION, conditions: [released(3000)] },
      'Failed TimedOut: not settled after 900 s: kubelet is Probation',
    ],
    [
      'a drain of which nothing is known',
      { startedAgo: 60, report: DRAINS },
      `InWork DrainPending: kubelet is WaitingForDrain: ${DRAINS.waiting?.message}`,
    ],
    [
      'a drain that waits for a budget',
      { startedAgo: 60, report: DRAINS, status: { waiting: BUDGET } },
      'InWork DrainPending: its drain waits for PodDisruptionBudget web: 1 pods left',
    ],
    [
      'a drain that waits for a budget for too long',
      { startedAgo: 901, report: DRAINS, status: { waiting: BUDGET } },
      'Failed TimedOut: not settled after 900 s: its drain waits for PodDisruptionBudget web: 1 pods left',
    ],
    [
      'a drain that only names what blocks it, for too long',
      { startedAgo: 901, report: DRAINS, status: { drain: { blockedBy: ['shop/web', 'shop/db'] } } },
      'Failed TimedOut: not settled after 900 s: its drain waits for shop/web, shop/db',
    ],
    [
      'probation after a drain: what the machine waits for is not its own reason',
      { startedAgo: 901, report: PROBATION, status: { waiting: BUDGET } },
      'Failed TimedOut: not settled after 900 s: kubelet is Probation',
    ],
    [
      'a rollback by the agent',
      { startedAgo: 60, report: ROLLED_BACK },
      'Failed RolledBack: kubelet: no answer',
    ],
    [
      'probes that fail',
      { startedAgo: 60, report: { ready: false } },
      'InWork ProbesFail: probes of kubelet fail',
    ],
    [
      'a Node that is not Ready yet',
      { startedAgo: 60, node: NOT_READY },
      'InWork NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'a Node that stays not Ready',
      { startedAgo: 901, node: NOT_READY, readyChangedAgo: 850 },
      'Failed TimedOut: not settled after 900 s: Node m-1 is NotReady',
    ],
    [
      'a Node that was not Ready before',
      { startedAgo: 901, node: NOT_READY, readyChangedAgo: 950 },
      'UnhealthyBefore UnhealthyBefore: Node m-1 is NotReady, as before the update',
    ],
    [
      'a Node that was not Ready before, with time left to recover',
      { startedAgo: 800, node: NOT_READY, readyChangedAgo: 950 },
      'InWork NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'a Node that was deleted',
      { startedAgo: 60, node: 'None' },
      'InWork NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'an agent that is silent',
      { startedAgo: 60, heardAgo: 41, report: PROBATION },
      'Unknown AgentSilent: its agent is silent since 2030-01-01T11:59:19.000Z',
    ],
    [
      'an agent that was heard lately, in an update that takes too long',
      { startedAgo: 950, heardAgo: 41, report: PROBATION },
      'Unknown AgentSilent: its agent is silent since 2030-01-01T11:59:19.000Z',
    ],
    [
      'an agent that is silent for too long',
      { startedAgo: 950, heardAgo: 901 },
      'Failed AgentSilent: its agent is silent since 2030-01-01T11:44:59.000Z',
    ],
    [
      'an agent that was never heard',
      { heardAgo: 'Never' },
      'Unknown AgentSilent: its agent was never heard',
    ],
    [
      'an agent that is silent since it failed',
      { startedAgo: 60, heardAgo: 41, report: ROLLED_BACK },
      'Failed RolledBack: kubelet: no answer',
    ],
  ])('ROL-31 knows where a machine in work is: %s', (_what, parts, expected) => {
    expect(explain(parts)).toBe(expected);
  });

  it.each<[what: string, parts: MemberParts, expected: string]>([
    ['settled', {}, 'Settled Settled: committed and healthy'],
    [
      'a change of the Machine that the agent has not observed',
      { observedGeneration: GENERATION - 1 },
      'Settled Settled: committed and healthy',
    ],
    [
      'an adopted host that differs',
      { report: DIFFERS, patrol: { result: 'Pass', because: '', asBefore: 'restarts as before: web/p (4)' } },
      'Differs HostDiffers: kubelet: a file has other content',
    ],
    [
      'an adopted host that differs, with a patrol that failed',
      { report: DIFFERS, patrol: { result: 'Fail', because: 'DiskPressure' } },
      'Unhealthy PatrolFail: DiskPressure',
    ],
    [
      'an adopted host that differs, on a Node that is not Ready',
      { report: DIFFERS, node: NOT_READY, readyChangedAgo: 10 },
      'Unhealthy NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'a Node that is not Ready',
      { node: NOT_READY, readyChangedAgo: 10 },
      'Unhealthy NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'a Node that was not Ready before the batch began',
      { node: NOT_READY, readyChangedAgo: 601 },
      'UnhealthyBefore UnhealthyBefore: Node m-1 is NotReady, as before the update',
    ],
    [
      'a Node of an earlier batch that is not Ready',
      { batch: 0, node: NOT_READY, readyChangedAgo: 601 },
      'Unhealthy NodeNotReady: Node m-1 is NotReady',
    ],
    [
      'a Node of which nothing is known',
      { node: UNKNOWN, readyChangedAgo: 10 },
      'Unknown NodeUnknown: Node m-1 is Unknown',
    ],
    [
      'a Node of which nothing is known for too long',
      { batch: 0, node: UNKNOWN, readyChangedAgo: 901 },
      'Unhealthy NodeUnknown: Node m-1 is Unknown',
    ],
    ['probes that fail', { report: { ready: false } }, 'Unhealthy ProbesFail: probes of kubelet fail'],
    ['a process that ended', { report: { running: false } }, 'Unhealthy NotRunning: kubelet does not run'],
    [
      'a patrol that failed',
      { patrol: { result: 'Fail', because: 'new condition KernelDeadlock' } },
      'Unhealthy PatrolFail: new condition KernelDeadlock',
    ],
    [
      'a patrol without a result',
      { patrol: { result: 'Unknown', because: 'Pods were not read' } },
      'Unknown PatrolUnknown: Pods were not read',
    ],
    [
      'a patrol that passed',
      { patrol: { result: 'Pass', because: '' } },
      'Settled Settled: committed and healthy',
    ],
    [
      'restarts as before the update',
      { patrol: { result: 'Pass', because: '', asBefore: 'restarts as before: web/p (4)' } },
      'Settled UnhealthyBefore: restarts as before: web/p (4)',
    ],
    [
      'a silent agent',
      { heardAgo: 41 },
      'Unknown AgentSilent: its agent is silent since 2030-01-01T11:59:19.000Z',
    ],
    [
      'a restart that needs a grant',
      { report: NEEDS_GRANT },
      'NeedsGrant GrantNeeded: kubelet is WaitingForGrant: restart',
    ],
    [
      'a failure within the budget, after its grant was settled',
      { report: ROLLED_BACK },
      'Failed RolledBack: kubelet: no answer',
    ],
  ])('ROL-20 knows the health of a machine that was settled: %s', (_what, parts, expected) => {
    expect(explain(parts)).toBe(expected);
  });

  it('ROL-31 is as far as the component that is furthest behind, and failed when one failed', () => {
    const member = observed({ startedAgo: 60 });
    const { machine } = member;
    const entries = ['a', 'b'].map((name) => {
      const { name: _name, ...version } = component(name, '1.0');
      return { ...version, name, state: 'Present' as const, parameters: {}, assignment: ASSIGNMENT };
    });
    const both = (states: readonly ('Probation' | 'Failed' | 'Committed')[]): string => {
      const components = entries.map(({ name, componentRef, digest }, index) => {
        const state = states[index] ?? 'Committed';
        return { name, desiredRef: componentRef, digest, state, running: true, ready: true };
      });
      const status = { ...machine.status, conditions: [], components };
      const metadata = { ...machine.metadata, managedFields: [ownEntries('a', 'b')] };
      const changed = { ...machine, metadata, spec: { ...machine.spec, components: entries }, status };
      return memberState({ ...member, machine: changed }, CONTEXT).step;
    };
    expect(both(['Committed', 'Committed'])).toBe('Settled');
    expect(both(['Committed', 'Probation'])).toBe('InWork');
    expect(both(['Probation', 'Failed'])).toBe('Failed');
  });
});
