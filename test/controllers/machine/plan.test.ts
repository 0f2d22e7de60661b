import { describe, expect, it } from 'vitest';
import { planMachine } from '../../../src/controllers/machine/plan.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { type GateReport, type MachineLife, machineLife } from '../../support/machine-life.ts';
import { explainMachine, type ObservationParts, observation } from '../../support/machine-observations.ts';

const NOT_JOINED: ObservationParts = {
  node: 'Missing',
  heartbeat: 'Missing',
  reported: { ComponentsReady: null, UpToDate: null },
};
const GATE = { readinessGates: [{ conditionType: 'NetworkReady' }] };
const TAINT = 'the start-up taint is being removed; remove the taint';

/** The kinds of a newer version may be installed. */
const NEWER_PROVIDER = 'gcp' as never;

type GateChange = readonly [at: number, status: GateReport['status']];

function network(...changes: readonly GateChange[]): readonly GateReport[] {
  return changes.map(([at, status]) => ({ at, gate: 'NetworkReady', status }));
}

describe('planMachine', () => {
  it.each<[name: string, parts: ObservationParts, want: string]>([
    ['is Ready when all is there', {}, 'Ready True'],
    [
      'waits for the host to join',
      NOT_JOINED,
      'Registering NoToken Machine/m: CertificateIssued: the host has no bootstrap token to join with. Run kubenode machine token m',
    ],
    [
      'waits for the first heartbeat after the certificate',
      { ...NOT_JOINED, status: { agent: { certificateNotAfter: ago(-3600) } } },
      'Registering NoHeartbeat Lease/m: AgentReady: the agent has not reported yet',
    ],
    [
      'installs components before there is a Node',
      { node: 'Missing', reported: { ComponentsReady: 'False' } },
      'InstallingComponents NotReady Machine/m: ComponentsReady: ',
    ],
    [
      'waits for the report of the agent',
      { reported: { ComponentsReady: null } },
      'InstallingComponents NotReported Machine/m: ComponentsReady: the agent has not reported its components',
    ],
    [
      'waits for the newest components',
      { reported: { UpToDate: 'False' } },
      'InstallingComponents NotReady Machine/m: UpToDate: ',
    ],
    [
      'waits for the Node',
      { node: 'Missing' },
      'Joining NodeMissing Node/m: NodeReady: Node m does not exist',
    ],
    [
      'names a host that has nothing to become a Node with',
      { node: 'Missing', spec: { components: [] } },
      'Joining NodeMissing Node/m: NodeReady: Node m does not exist, and the machine has no components: no MachineComponentSet selects it by its labels',
    ],
    [
      'waits for a Node that is not Ready',
      { node: 'False' },
      'Joining NodeNotReady Node/m: NodeReady: Node m is not Ready: ',
    ],
    [
      'MAC-17 waits for labels and taints',
      { isSynced: false },
      'Verifying Writing Node/m: NodeSynced: labels, annotations or taints are being written',
    ],
    [
      'supports no provider of a newer version',
      { spec: { infra: { provider: NEWER_PROVIDER, config: {} } } },
      'Provisioning NotSupported: InfraConfigValid: provider gcp is not supported yet. Use local or ssh or alibaba or aws or azure',
    ],
    [
      'MAC-18 removes the start-up taint when all is there',
      { node: 'Starting' },
      `Verifying Writing: ${TAINT}`,
    ],
    [
      'MAC-18 keeps the start-up taint while a component is not committed',
      { node: 'Starting', reported: { ComponentsReady: 'False' } },
      'InstallingComponents NotReady Machine/m: ComponentsReady: ',
    ],
    [
      'MAC-18 keeps the start-up taint while a gate is missing, and names it',
      { node: 'Starting', spec: GATE },
      'Verifying NotReported Machine/m: NetworkReady: the readiness gate NetworkReady is not reported',
    ],
    [
      'MAC-18 keeps the start-up taint while a gate is False',
      { node: 'Starting', spec: GATE, reported: { NetworkReady: 'False' } },
      'Verifying NotReady Machine/m: NetworkReady: ',
    ],
    [
      'MAC-18 removes it when the gate is True',
      { node: 'Starting', spec: GATE, reported: { NetworkReady: 'True' } },
      `Verifying Writing: ${TAINT}`,
    ],
    [
      'is not Ready while a gate is not',
      { spec: GATE, reported: { NetworkReady: 'Unknown' } },
      'Verifying NotReady Machine/m: NetworkReady: ',
    ],
  ])('%s', (_, parts, want) => {
    expect(explainMachine(parts)).toBe(want);
  });

  describe('minReadySeconds', () => {
    const own = ['InfraConfigValid', 'InfraReady', 'CertificateIssued', 'AgentReady', 'NodeSynced'];
    const parts = (nodeSeconds: number): ObservationParts => ({
      node: 'Starting',
      spec: { minReadySeconds: 60 },
      status: {
        conditions: [
          ...[...own, 'ComponentsReady', 'UpToDate'].map((type) => condition(type, 'True')),
          condition('NodeReady', 'True', { lastTransitionTime: ago(nodeSeconds) }),
        ],
      },
    });

    it('MAC-18 counts from the last condition that became True', () => {
      const { changesAt, removeStartupTaint } = planMachine(observation(parts(20)));
      expect([removeStartupTaint, changesAt]).toEqual([false, new Date(NOW.getTime() + 40_000)]);
      expect(explainMachine(parts(20))).toBe(
        'Verifying MinReadySeconds: spec.minReadySeconds end at 2030-01-01T12:00:40.000Z',
      );
      expect(explainMachine(parts(60))).toBe(`Verifying Writing: ${TAINT}`);
    });

    it('MAC-18 counts from now for what became True just now', () => {
      const { changesAt } = planMachine(observation({ node: 'Starting', spec: { minReadySeconds: 60 } }));
      expect(changesAt).toEqual(new Date(NOW.getTime() + 60_000));
    });

    it('holds up no Node that was Ready once', () => {
      expect(explainMachine({ spec: { minReadySeconds: 3600 } })).toBe('Ready True');
    });
  });

  describe('readiness gates of others', () => {
    const missing = 'Stalled: NetworkReady: the readiness gate NetworkReady is not reported';

    it.each<[name: string, life: Partial<MachineLife>, want: readonly string[]]>([
      [
        'MAC-18 opens the Node only minReadySeconds after a gate that is late',
        { reports: network([300, 'True']) },
        [
          '0 s: tainted, NotReported',
          '300 s: tainted, MinReadySeconds',
          '360 s: open, Writing',
          '390 s: open, Ready',
        ],
      ],
      [
        'MAC-18 ends Stalled when the gate comes after its deadline',
        { reports: network([900, 'True']) },
        [
          '0 s: tainted, NotReported',
          `600 s: tainted, NotReported, ${missing}`,
          '900 s: tainted, MinReadySeconds',
          '960 s: open, Writing',
          '990 s: open, Ready',
        ],
      ],
      [
        'MAC-18 keeps the taint while a gate flaps',
        { reports: network([0, 'True'], [30, 'False'], [60, 'True'], [90, 'Unknown'], [120, 'True']) },
        [
          '0 s: tainted, MinReadySeconds',
          '30 s: tainted, NotReady',
          '60 s: tainted, MinReadySeconds',
          '90 s: tainted, NotReady',
          '120 s: tainted, MinReadySeconds',
          '180 s: open, Writing',
          '210 s: open, Ready',
        ],
      ],
      [
        'MAC-18 counts from a flap between two reconciles, which none of them observed',
        { reports: network([0, 'True'], [40, 'False'], [50, 'True']) },
        ['0 s: tainted, MinReadySeconds', '120 s: open, Writing', '150 s: open, Ready'],
      ],
      [
        'MAC-18 keeps the taint for as long as the gate is missing, and Stalled names it',
        { reports: [], seconds: 86_400 },
        ['0 s: tainted, NotReported', `600 s: tainted, NotReported, ${missing}`],
      ],
      [
        'MAC-18 keeps the taint while the gate stays False, and Stalled names it',
        { reports: network([30, 'False']) },
        [
          '0 s: tainted, NotReported',
          '30 s: tainted, NotReady',
          '630 s: tainted, NotReady, Stalled: NetworkReady: ',
        ],
      ],
      [
        'MAC-18 names of two gates the one that never comes',
        { gates: ['DiskReady', 'NetworkReady'], reports: [{ at: 60, gate: 'DiskReady', status: 'True' }] },
        ['0 s: tainted, NotReported', `600 s: tainted, NotReported, ${missing}`],
      ],
      [
        'MAC-18 never adds the taint again when a gate flaps on a Node that was Ready',
        { reports: network([0, 'True'], [300, 'False'], [360, 'True'], [420, 'Unknown']) },
        [
          '0 s: tainted, MinReadySeconds',
          '60 s: open, Writing',
          '90 s: open, Ready',
          '300 s: open, NotReady',
          '360 s: open, Ready',
          '420 s: open, NotReady',
          '900 s: open, NotReady, Stalled: the readiness gate NetworkReady is not True',
          '1020 s: open, NotReady, Stalled: NetworkReady: ',
        ],
      ],
    ])('%s', (_, life, want) => {
      const usual = { gates: ['NetworkReady'], reports: [], minReadySeconds: 60, seconds: 1200 };
      expect(machineLife({ ...usual, ...life })).toEqual(want);
    });
  });

  it('stays Ready while it is held, and shows it', () => {
    const spec = { hold: { reason: 'debugging', scope: 'All', until: ago(-60) } } as const;
    const { conditions, changesAt } = planMachine(observation({ spec }));
    const statuses = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    expect(statuses).toEqual(expect.arrayContaining(['Held True HeldAll', 'Ready True AsWanted']));
    expect(changesAt).toEqual(new Date(NOW.getTime() + 60_000));
  });

  it('MAC-01 writes each of its conditions with the generation that it is about', () => {
    const { conditions } = planMachine(observation({ metadata: { generation: 7 } }));
    expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual(conditions.map(() => 7));
    expect(conditions.map(({ type }) => type)).not.toContain('ComponentsReady');
  });
});
