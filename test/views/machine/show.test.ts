import { describe, expect, it } from 'vitest';
import type { MachinePower } from '../../../src/api/generated/types.ts';
import { formatMachine } from '../../../src/views/machine/show.ts';
import { ago, condition, DESIRED, machine, NOW, node, PREVIOUS } from '../../support/builders.ts';

const assignment = { set: 'general-nodes', revision: 'r-5d41402a', batch: 1 };
const UPDATING = machine('rack7-n03', {
  spec: {
    zone: 'b',
    hold: { reason: 'new disks', scope: 'Disruptive', until: '2030-01-02T00:00:00Z' },
    components: [{ ...DESIRED, state: 'Present', parameters: {}, assignment }],
  },
  status: {
    phase: 'Updating',
    agent: { version: '1.2.0', host: 'systemd' },
    conditions: [
      condition('AgentReady', 'True'),
      condition('UpToDate', 'False', { reason: 'Behind', message: 'kubelet', lastTransitionTime: ago(95) }),
    ],
    waiting: {
      reason: 'WaitingForDrain',
      since: ago(90),
      message: 'pod shop/web-1 is protected by PodDisruptionBudget web',
    },
    drain: {
      state: 'Draining',
      since: ago(80),
      total: 7,
      evicted: 3,
      pending: 4,
      blockedBy: ['PodDisruptionBudget shop/web'],
    },
    components: [
      {
        name: 'kubelet',
        desiredRef: DESIRED.componentRef,
        currentRef: PREVIOUS.componentRef,
        state: 'WaitingForDrain',
        since: ago(90),
      },
    ],
  },
});
const GRANT = {
  id: 'g-1',
  fence: 3,
  state: 'Started',
  holder: { kind: 'MachineComponentSet', name: 'general-nodes' },
  action: 'UpdateComponent',
  risk: 'Node',
  issuedAt: ago(100),
  notAfter: '2030-01-01T12:05:00Z',
} as const;

function shownPower(power: MachinePower): string {
  const silent = machine('m', { status: { power } });
  return formatMachine({ machine: silent, node: node('m'), grant: undefined, probes: undefined }, NOW, 80);
}

describe('formatMachine', () => {
  it('shows what happens, why, since when and what unblocks it, in 80 columns', () => {
    const cordoned = { ...node('rack7-n03'), spec: { unschedulable: true } };
    const text = formatMachine(
      { machine: UPDATING, node: cordoned, grant: GRANT, probes: undefined },
      NOW,
      80,
    );
    expect(text).toBe(`rack7-n03   Updating 90s   zone b, local
  node       Ready 60m, cordoned
  agent      1.2.0 on systemd, heard for 60m
  held       disruptive acts: new disks (until 2030-01-02T00:00:00Z)
  act        UpdateComponent Started for MachineComponentSet general-nodes,
             granted 100s ago, ends 2030-01-01T12:05:00Z [g-1]
  drain      Draining 80s: 3 of 7 pods evicted, 4 left, blocked by
             PodDisruptionBudget shop/web
  waits      WaitingForDrain 90s: pod shop/web-1 is protected by
             PodDisruptionBudget web
  unblocks   what is named above has to change

COMPONENT   DESIRED   RUNS     STATE             SINCE   WHY
kubelet     1.34.2    1.34.1   WaitingForDrain   90s     by general-nodes

CONDITION        REASON   SINCE   MESSAGE
UpToDate=False   Behind   95s     kubelet
`);
  });

  it('shows the power of a silent host as its BMC told it, or why it did not', () => {
    expect(shownPower({ state: 'Off', since: ago(120) })).toContain('  power      Off for 2m\n');
    const refused = { state: 'Unknown', since: ago(120), message: 'the BMC refused the password' } as const;
    expect(shownPower(refused)).toContain('  power      Unknown for 2m: the BMC refused the password\n');
  });

  it('R20 shows what the peers of a silent machine found', () => {
    const silence = { address: '10.0.0.1', port: 10_250, since: ago(120), peers: ['p-1'] };
    const probes = { result: 'KubeletAnswers', peers: ['p-1'], silence } as const;
    const shown = { machine: machine('m'), node: node('m'), grant: undefined, probes };
    expect(formatMachine(shown, NOW, 200)).toContain(
      '  probes     KubeletAnswers by p-1: its kubelet answers, so its way to the API server may be cut; 1 asked',
    );
  });

  it('is short for a machine that is Ready', () => {
    const ready = machine('m-1', { status: { phase: 'Ready' } });
    expect(
      formatMachine({ machine: ready, node: node('m-1'), grant: undefined, probes: undefined }, NOW, 80),
    ).toBe(
      `m-1   Ready 60m   local
  node       Ready 60m
  agent      heard for 60m

COMPONENT   DESIRED   RUNS     STATE       SINCE   WHY
kubelet     1.34.2    1.34.2   Committed   60m     by pinned
`,
    );
  });

  it('shows a machine that nothing has observed', () => {
    const { status: _, ...fresh } = machine('m-1', { spec: { components: [] } });
    const text = formatMachine(
      { machine: fresh, node: undefined, grant: undefined, probes: undefined },
      NOW,
      80,
    );
    expect(text).toContain('NotObserved: no controller');
    expect(text).toContain('no components');
  });
});
