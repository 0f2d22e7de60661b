import { describe, expect, it } from 'vitest';
import type { MachineAuthorities } from '../../../../../src/api/generated/types.ts';
import type { RotationReport } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { MachineClient } from '../../../../../src/controllers/hosting/inside/clients.ts';
import {
  nodeClients,
  unsupportedClients,
} from '../../../../../src/controllers/hosting/plan/rotation/machines.ts';
import { documentOf, signedBy, testAuthority } from '../../../../support/authorities.ts';
import { NOW } from '../../../../support/builders.ts';
import { hostingInput } from '../../../../support/hosting/objects.ts';

const [OLD, NEW] = [testAuthority('old'), testAuthority('new')];
const SIGNED = signedBy(
  [OLD, NEW],
  documentOf([NEW, OLD], { order: 7, rotation: '2026', phase: 'IssueNew' }),
);
const REPORT: MachineAuthorities = {
  managed: true,
  rotation: '2026',
  phase: 'IssueNew',
  order: 7,
  trusted: [OLD.sha256, NEW.sha256],
  issuer: NEW.sha256,
  kubelet: 'None',
};

const ROTATION: RotationReport = {
  id: '2026',
  phase: 'IssueNew',
  isApplied: true,
  isEnding: false,
  isSigned: true,
  hasIssued: true,
  behind: [],
  proofs: [],
};

function machine(
  report: Partial<MachineAuthorities> = {},
  parts: Partial<MachineClient> = {},
): MachineClient {
  const agent = { version: '0.2.0', authorities: { ...REPORT, ...report } };
  return { name: 'm-1', agent, heartbeat: 'Renewed', heardAt: NOW, ...parts };
}

function explain(
  found: MachineClient,
  nodes: readonly string[] = [],
  signed: typeof SIGNED | undefined = SIGNED,
  rotation = ROTATION,
): readonly string[] {
  const input = hostingInput({
    plane: { authorities: signed, rotation },
    input: { clients: { nodes, machines: [found], tokens: [] } },
  });
  return nodeClients(input).map(({ name, behind }) => `${name}: ${behind?.because ?? 'moved'}`);
}

const without = (field: keyof MachineAuthorities): MachineClient => {
  const { [field]: _, ...rest } = REPORT;
  return machine({}, { agent: { authorities: rest as MachineAuthorities } });
};
/** A machine that is behind, and of which this is not known. */
const lacking = (field: 'heardAt' | 'heartbeat'): MachineClient => {
  const { [field]: _, ...rest } = machine({ order: 6 });
  return rest;
};
const silentFor = (seconds: number): Partial<MachineClient> => ({
  heartbeat: 'Silent',
  heardAt: ago(seconds),
});
const ago = (seconds: number): Date => new Date(+NOW - seconds * 1000);

describe('agents and kubelets in a rotation', () => {
  it.each<[what: string, found: MachineClient, expected: string]>([
    ['it reports exactly this phase', machine(), 'moved'],
    ['its list has another order', machine({ trusted: [NEW.sha256, OLD.sha256] }), 'moved'],
    ['it went silent after it has moved', machine({}, silentFor(86_400)), 'moved'],
    ['it follows another rotation', machine({ rotation: '2025' }), 'it has not followed this phase yet'],
    ['it follows an earlier phase', machine({ order: 6 }), 'it has not followed this phase yet'],
    ['it follows a later phase than hosting', machine({ order: 8 }), 'it has not followed this phase yet'],
    ['it follows nothing', without('order'), 'it has not followed this phase yet'],
    ['it trusts one of two', machine({ trusted: [NEW.sha256] }), 'it trusts other authorities'],
    [
      'it trusts a third one',
      machine({ trusted: [NEW.sha256, OLD.sha256, 'a'.repeat(64)] }),
      'it trusts other authorities',
    ],
    [
      'its certificate is of the former one',
      machine({ issuer: OLD.sha256 }),
      'its certificate is of another authority',
    ],
    [
      'the issuer of its certificate is unknown',
      without('issuer'),
      'its certificate is of another authority',
    ],
    ['it refuses what is published', machine({ problem: 'it is older' }), 'it is older'],
    ['it is silent', machine({ order: 6 }, silentFor(46)), 'its agent is silent since 2030-01-01T11:59:14Z'],
    [
      'it is silent since an unknown time',
      { ...lacking('heardAt'), heartbeat: 'Silent' },
      'its agent is silent',
    ],
    [
      'it refused what is published, and is silent since',
      machine({ problem: 'it is older' }, silentFor(46)),
      'its agent is silent since 2030-01-01T11:59:14Z, and before: it is older',
    ],
    [
      'the clock of its host is behind, and it is not silent',
      machine({ order: 6 }, { heardAt: ago(86_400) }),
      'it has not followed this phase yet',
    ],
    [
      'its heartbeats are not judged yet',
      { ...lacking('heartbeat'), heardAt: ago(86_400) },
      'it has not followed this phase yet',
    ],
    [
      'it has no Lease',
      { ...lacking('heardAt'), heartbeat: 'Never' },
      'its agent has never renewed its Lease',
    ],
    ['it never joined', { name: 'm-1' }, 'its agent has not joined'],
    [
      'it is of an earlier version',
      machine({}, { agent: { version: '0.1.0', startedAt: ago(181) } }),
      'its agent of version 0.1.0 reports no authorities',
    ],
    [
      'it has joined a moment ago',
      machine({}, { agent: { version: '0.2.0', startedAt: ago(179) } }),
      'its agent has not read its authorities yet',
    ],
    [
      'another program keeps its certificate',
      machine({ managed: false }),
      'another program keeps the certificate of its agent',
    ],
    [
      'it trusts the authorities of its system',
      machine({ trusted: [] }),
      'its agent trusts the authorities of its system',
    ],
  ])('HOS-22 counts an agent by its report of this phase only: %s', (_, found, expected) => {
    expect(explain(found)).toEqual([`Machine m-1: ${expected}`]);
  });

  it.each<[what: string, found: MachineClient, nodes: readonly string[], expected: readonly string[]]>([
    ['no kubelet, and no Node', machine(), [], []],
    ['one that uses this phase', machine({ kubelet: 'Current' }), ['m-1'], ['Node m-1: moved']],
    ['one that has no Node yet', machine({ kubelet: 'Current' }), [], ['Node m-1: moved']],
    [
      'one that waits for its restart',
      machine({ kubelet: 'RestartPending' }),
      ['m-1'],
      ['Node m-1: its kubelet was not restarted with them yet'],
    ],
    [
      'one that waits for its certificate',
      machine({ kubelet: 'CertificatePending' }),
      ['m-1'],
      ['Node m-1: its kubelet gets another certificate'],
    ],
    [
      'a Node whose kubelet is not ours',
      machine(),
      ['m-1'],
      ['Node m-1: its kubelet is not a component with identity Kubelet'],
    ],
    [
      'one whose agent reports another phase',
      machine({ kubelet: 'Current', order: 6 }),
      ['m-1'],
      ['Node m-1: it has not followed this phase yet'],
    ],
    [
      'one that does not use the files of its agent',
      machine({ kubelet: 'Foreign' as 'Current' }),
      ['m-1'],
      ['Node m-1: its kubelet does not use the files of its agent'],
    ],
    [
      'one in a state that hosting does not know',
      machine({ kubelet: 'Melted' as 'Current' }),
      [],
      ['Node m-1: its kubelet is in the unknown state Melted'],
    ],
    ['a Node without a Machine', machine(), ['worker-1'], ['Node worker-1: it has no Machine']],
  ])('HOS-22 counts a kubelet beside its agent: %s', (_, found, nodes, expected) => {
    expect(explain(found, nodes).slice(1)).toEqual(expected);
  });

  it('HOS-22 counts no agent before the phase is published', () => {
    const nothing = ['Machine m-1: nothing is published yet'];
    expect(explain(machine(), [], { document: 'x', signatures: '{}' })).toEqual(nothing);
    // The document is that of the phase before, which the agent has followed.
    expect(explain(machine(), [], SIGNED, { ...ROTATION, isSigned: false })).toEqual(nothing);
  });

  it.each<[what: string, found: MachineClient, nodes: readonly string[], expected: readonly string[]]>([
    ['none that can follow', machine(), [], []],
    ['none that has joined a moment ago', machine({}, { agent: { startedAt: NOW } }), [], []],
    ['none that never joined', { name: 'm-1' }, [], []],
    ['none that is behind', machine({ order: 1, kubelet: 'RestartPending' }), ['m-1'], []],
    ['an agent of an earlier version', machine({}, { agent: {} }), [], ['Machine m-1']],
    ['an agent that another program keeps', machine({ managed: false }), ['m-1'], ['Machine m-1']],
    ['an agent with the authorities of its system', machine({ trusted: [] }), [], ['Machine m-1']],
    ['a kubelet that is not ours', machine(), ['m-1'], ['Node m-1']],
    ['a kubelet with other files', machine({ kubelet: 'Foreign' as 'Current' }), ['m-1'], ['Node m-1']],
    ['a kubelet in an unknown state', machine({ kubelet: 'Melted' as 'Current' }), [], ['Node m-1']],
    ['a Node without a Machine', machine(), ['worker-1'], ['Node worker-1']],
  ])('HOS-22 names who can never follow: %s', (_, found, nodes, expected) => {
    const input = hostingInput({ input: { clients: { nodes, machines: [found], tokens: [] } } });
    expect(unsupportedClients(input).map(({ name }) => name)).toEqual(expected);
    expect(unsupportedClients(input).every(({ behind }) => behind.remedy === 'Replace')).toBe(true);
  });
});
