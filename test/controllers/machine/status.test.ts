import { describe, expect, it } from 'vitest';
import type { MachineStatus } from '../../../src/api/generated/types.ts';
import { entriesDigest } from '../../../src/api/machine/entry-report.ts';
import { planMachine } from '../../../src/controllers/machine/plan.ts';
import { machineStatus } from '../../../src/controllers/machine/status.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { ago, condition, machine, NOW } from '../../support/builders.ts';
import { type ObservationParts, observation } from '../../support/machine-observations.ts';

function statusOf(parts: ObservationParts): MachineStatus {
  const observed = observation(parts);
  return machineStatus({ ...observed, plan: planMachine(observed) });
}

function explain(parts: ObservationParts): string {
  const { phase, conditions } = statusOf(parts);
  const text = ['Progressing', 'Stalled'].map((type) => {
    const found = conditions.find((each) => each.type === type);
    return `${type} ${found?.status} ${found?.reason}`;
  });
  return [phase, ...text].join(', ');
}

const waiting = (reason: string, seconds: number, name = 'm'): ObservationParts => ({
  status: {
    conditions: [condition('ComponentsReady', 'True'), condition('UpToDate', 'True')],
    waiting: { reason, blocker: { kind: 'Node', name }, since: ago(seconds) },
  },
});
const NO_NODE: ObservationParts = { node: 'Missing' };

const blocked = (seconds: number): ObservationParts => ({
  status: {
    conditions: [condition('ComponentsReady', 'False')],
    waiting: { reason: 'NotReady', blocker: { kind: 'Machine', name: 'm' }, since: ago(seconds) },
  },
});

/** In service before. The agent reported UpToDate of the generation `observed`. */
function reportedAt(generation: number, upToDate: 'True' | 'False', observed: number): ObservationParts {
  return {
    metadata: { generation },
    status: {
      node: { uid: 'node-1', establishedAt: ago(3600) },
      conditions: [
        condition('ComponentsReady', 'True'),
        condition('UpToDate', upToDate, { observedGeneration: observed }),
      ],
    },
  };
}

/** The agent acted on the entries when they had a grant. */
function withDigest(parts: ObservationParts): ObservationParts {
  const agent = { entriesDigest: entriesDigest(machine('m').spec) };
  return { ...parts, status: { ...parts.status, agent } };
}

function withGate(parts: ObservationParts): ObservationParts {
  return { ...parts, spec: { readinessGates: [{ conditionType: 'example.com/Checked' }] } };
}

/** The condition Stalled of a machine whose instance runs, and has not joined for so long. */
function stalledAfter(seconds: number): string {
  const observed = observation({
    heartbeat: 'Missing',
    node: 'Missing',
    spec: { infra: { provider: 'azure', config: { vmSize: 'x' } } },
    status: {
      infra: { providerID: 'azure:///1', state: 'Running' },
      waiting: { reason: 'NotIssued', blocker: { kind: 'Machine', name: 'm' }, since: ago(seconds) },
    },
  });
  const status = machineStatus({ ...observed, plan: planMachine({ ...observed, infraFindings: [] }) });
  const found = status.conditions.find(({ type }) => type === 'Stalled');
  return `${found?.status}: ${found?.message}`;
}

describe('machineStatus', () => {
  it.each<[name: string, parts: ObservationParts, want: string]>([
    ['is Ready', {}, 'Ready, Progressing True AsWanted, Stalled False AsWanted'],
    ['shows the step', NO_NODE, 'NotReady, Progressing True Joining, Stalled False AsWanted'],
    [
      'is Importing before the host has joined',
      { ...NO_NODE, heartbeat: 'Missing' },
      'Importing, Progressing True Registering, Stalled False AsWanted',
    ],
    [
      'is Unreachable when the agent is silent',
      { heartbeat: { ageMs: 50_000, hasChanged: true, unreportedMs: 0 } },
      'Unreachable, Progressing True Registering, Stalled False AsWanted',
    ],
    [
      'is Updating while a component changes',
      { reported: { UpToDate: 'False' } },
      'Updating, Progressing True InstallingComponents, Stalled False AsWanted',
    ],
    [
      'is Stalled with a field that nothing acts on, however well it runs',
      {
        spec: {
          deletion: { drain: 'Respect', drainTimeoutSeconds: 1, timeoutSeconds: 1, cleanup: 'Wipe' },
        },
      },
      'Stalled, Progressing True AsWanted, Stalled True NotSupported',
    ],
    [
      'is Held',
      { spec: { hold: { reason: 'x', scope: 'All' } } },
      'Held, Progressing True AsWanted, Stalled False AsWanted',
    ],
    [
      'is Deleting',
      { metadata: { deletionTimestamp: ago(1) } },
      'Deleting, Progressing True AsWanted, Stalled False AsWanted',
    ],
    [
      'MAC-04 waits within its deadline',
      { ...NO_NODE, ...waiting('NodeMissing', 599) },
      'NotReady, Progressing True Joining, Stalled False AsWanted',
    ],
    [
      'MAC-04 stalls past its deadline',
      { ...NO_NODE, ...waiting('NodeMissing', 600) },
      'Stalled, Progressing False Joining, Stalled True NodeMissing',
    ],
    [
      'MAC-04 begins again with another reason',
      { ...NO_NODE, ...waiting('NodeNotReady', 600) },
      'NotReady, Progressing True Joining, Stalled False AsWanted',
    ],
    [
      'MAC-04 begins again with another blocker',
      { ...NO_NODE, ...waiting('NodeMissing', 600, 'other') },
      'NotReady, Progressing True Joining, Stalled False AsWanted',
    ],
  ])('%s', (_, parts, want) => {
    expect(explain(parts)).toBe(want);
  });

  it('is never Joining while an update runs: Ready, Updating, Ready', () => {
    const UPDATE: readonly (readonly [moment: string, parts: ObservationParts])[] = [
      ['it serves', reportedAt(1, 'True', 1)],
      ['its entries change, and the agent has not reported since', reportedAt(2, 'True', 1)],
      ['the agent installs', reportedAt(2, 'False', 2)],
      ['the kubelet starts again', { ...reportedAt(2, 'False', 2), node: 'Unknown' }],
      ['the permission is taken out of its entries', withDigest(reportedAt(3, 'True', 2))],
      ['another change of its entries', reportedAt(3, 'True', 2)],
      ['labels of the Node follow', { ...reportedAt(3, 'True', 3), isSynced: false }],
      ['it serves again', reportedAt(3, 'True', 3)],
    ];
    expect(UPDATE.map(([moment, parts]) => `${statusOf(parts).phase}: ${moment}`)).toEqual([
      'Ready: it serves',
      'Updating: its entries change, and the agent has not reported since',
      'Updating: the agent installs',
      'Updating: the kubelet starts again',
      'Ready: the permission is taken out of its entries',
      'Updating: another change of its entries',
      'Updating: labels of the Node follow',
      'Ready: it serves again',
    ]);
  });

  it.each<[name: string, parts: ObservationParts, phase: string]>([
    ['a Node that registers for the first time', { node: 'Starting' }, 'Joining'],
    ['labels that are written to a new Node', { isSynced: false }, 'Joining'],
    ['a Node that registered again', { ...reportedAt(1, 'True', 1), node: 'Starting' }, 'Joining'],
    ['a Node that went away', { ...reportedAt(1, 'True', 1), node: 'Missing' }, 'NotReady'],
    ['a readiness gate of a machine in service', withGate(reportedAt(1, 'True', 1)), 'NotReady'],
    ['a readiness gate of a new machine', withGate({}), 'Joining'],
    [
      'a hold of a machine in service, whose labels wait',
      {
        ...reportedAt(1, 'True', 1),
        isSynced: false,
        spec: { hold: { reason: 'x', scope: 'All' } },
      },
      'Held',
    ],
  ])('joins once, by %s', (_, parts, phase) => {
    expect(statusOf(parts).phase).toBe(phase);
  });

  it('gives components the time of a drain', () => {
    expect(explain(blocked(1799))).toContain('Stalled False');
    expect(explain(blocked(1800))).toContain('Stalled True NotReady');
  });

  it('MAC-04 names an instance that never joins, and where to look, past its deadline', () => {
    expect(stalledAfter(599)).toContain('False');
    expect(stalledAfter(600)).toContain(
      `True: since ${ago(600)}: CertificateIssued: the agent has no certificate`,
    );
    expect(stalledAfter(600)).toContain(
      'Instance azure:///1 is Running. If this lasts, read its console output',
    );
  });

  it('MAC-04 names what blocks, and since when', () => {
    expect(statusOf({ ...NO_NODE, ...waiting('NodeMissing', 100) }).waiting).toEqual({
      reason: 'NodeMissing',
      blocker: { kind: 'Node', name: 'm' },
      since: ago(100),
      message: 'NodeReady: Node m does not exist',
    });
    expect(statusOf(NO_NODE).waiting?.since).toBe(NOW.toISOString());
    expect(statusOf({}).waiting).toBeUndefined();
  });

  it.each([
    ['the same Node', 'node-1', ago(60)],
    ['another Node', 'node-0', NOW.toISOString()],
  ])('reports a cordon, and since when after one of %s', (_, uid, since) => {
    const before = { uid, establishedAt: ago(90), cordon: { since: ago(60) } };
    const observed = observation({ status: { node: before } });
    const { node = never(), ...rest } = observed;
    const cordoned = { ...node, spec: { unschedulable: true } };
    const status = machineStatus({ ...rest, node: cordoned, plan: planMachine(observed) });
    expect(status.node).toEqual({ uid: 'node-1', establishedAt: ago(90), cordon: { since } });
  });

  it('remembers the Node that it had', () => {
    const cordon = { since: ago(60) };
    const known = { uid: 'node-0', establishedAt: ago(90) };
    const before = { node: { ...known, cordon } };
    expect(statusOf({ ...NO_NODE, status: before }).node).toEqual(known);
  });

  it.each<[what: string, taint: boolean, before: string | undefined, want: string | undefined]>([
    ['from the first Node without the start-up taint', false, undefined, NOW.toISOString()],
    ['not before', true, undefined, undefined],
    ['also when its Node registers again', true, ago(60), ago(60)],
    ['since the first time', false, ago(60), ago(60)],
  ])('ROL-11 remembers that it was in service: %s', (_, taint, establishedAt, want) => {
    const status = { node: { uid: 'node-0', ...optional('establishedAt', establishedAt) } };
    const observed = observation({ status });
    const { node = never(), ...rest } = observed;
    const taints = taint ? [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }] : [];
    const found = machineStatus({
      ...rest,
      node: { ...node, spec: { taints } },
      plan: planMachine(observed),
    });
    expect(found.node).toEqual({ uid: 'node-1', ...optional('establishedAt', want) });
  });
});

function never(): never {
  throw new Error('the machine has no Node');
}
