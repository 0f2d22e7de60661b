import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { coverageOf } from '../../../src/cli/commands/component/coverage.ts';
import { usesOf } from '../../../src/observability/fleet/component-uses.ts';
import { agentState, countFleet, isChanging, machineState } from '../../../src/observability/fleet/counts.ts';
import { ago, condition, FLEET_WORDS, fleet, machine, NOW } from '../../support/builders.ts';

const STARTED = { agent: { startedAt: ago(600) } };

const SERVED = { node: { establishedAt: ago(9000) } };

function withReady(
  status: 'True' | 'False' | 'Unknown',
  more: object = {},
  held: 'True' | 'False' = 'False',
): Machine {
  return machine('m', {
    status: { conditions: [condition('Ready', status), condition('Held', held)], ...more },
  });
}

describe('DAT-01 the state of a machine', () => {
  it.each<[name: string, found: Machine, want: string]>([
    ['is Ready by its condition', withReady('True'), 'Ready'],
    ['is Ready while a person holds it, if it is', withReady('True', SERVED, 'True'), 'Ready'],
    ['is Deleting, Ready or not', machine('m', { metadata: { deletionTimestamp: ago(1) } }), 'Deleting'],
    ['is Joining while nothing is reported', machine('m', { status: { conditions: [] } }), 'Joining'],
    ['is Joining until it was in service', withReady('False'), 'Joining'],
    ['is NotReady once it was in service', withReady('False', SERVED), 'NotReady'],
    ['is NotReady while that is unknown', withReady('Unknown', SERVED), 'NotReady'],
    ['is Held when a person holds it and it is not Ready', withReady('False', SERVED, 'True'), 'Held'],
  ])('%s', (_, found, want) => {
    expect(machineState(found)).toBe(want);
  });
});

describe('DAT-01 a machine that changes', () => {
  const HEALTHY = [
    'InfraReady',
    'CertificateIssued',
    'AgentReady',
    'UpToDate',
    'ComponentsReady',
    'NodeReady',
    'Ready',
  ];
  /** With these conditions beside those of a machine that is Ready. */
  const inPhase = (...changed: readonly ReturnType<typeof condition>[]): Machine => {
    const kept = HEALTHY.filter((type) => changed.every((each) => each.type !== type));
    const conditions = [
      ...kept.map((type) => condition(type, 'True', { observedGeneration: 1 })),
      ...changed,
    ];
    return machine('m', { status: { conditions } });
  };

  it.each<[what: string, found: Machine, want: boolean]>([
    ['is created', inPhase(condition('InfraReady', 'False')), true],
    ['is updated', inPhase(condition('UpToDate', 'False')), true],
    ['has no conditions yet', machine('m', { status: { conditions: [] } }), true],
    ['is Ready', inPhase(), false],
    ['is unreachable', inPhase(condition('AgentReady', 'Unknown')), false],
    ['is not Ready', inPhase(condition('NodeReady', 'False')), false],
    ['is deleted', machine('m', { metadata: { deletionTimestamp: ago(1) } }), false],
  ])('is judged by its phase: one that %s', (_, found, want) => {
    expect(isChanging(found)).toBe(want);
  });

  it('is counted with the others of the fleet', () => {
    const machines = [inPhase(), inPhase(condition('UpToDate', 'False')), inPhase()];
    expect(countFleet(machines, NOW).changing).toBe(1);
  });
});

describe('DAT-01 the state of an agent', () => {
  it.each<[name: string, status: Partial<NonNullable<Machine['status']>>, want: string]>([
    ['reports while its condition is True', { conditions: [condition('AgentReady', 'True')] }, 'Reporting'],
    [
      'is silent once it has reported',
      { conditions: [condition('AgentReady', 'Unknown')], ...STARTED },
      'Silent',
    ],
    ['is silent when its condition is not there any more', { conditions: [], ...STARTED }, 'Silent'],
    ['joins until its first report', { conditions: [condition('AgentReady', 'False')] }, 'Joining'],
  ])('%s', (_, status, want) => {
    expect(agentState(machine('m', { status }))).toBe(want);
  });
});

function behind(name: string, seconds: number): Machine {
  const [found = machine(name)] = fleet('behind');
  const upToDate = { ...condition('UpToDate', 'False'), lastTransitionTime: ago(seconds) };
  return { ...found, status: { ...found.status, conditions: [upToDate], components: [] } };
}

function waits(name: string, reason: string, seconds: number): Machine {
  return machine(name, { status: { remedyWaits: [{ rule: 'disk', reason, since: ago(seconds) }] } });
}

function ends(name: string, seconds: number, status: 'True' | 'Unknown' = 'True'): Machine {
  const agent = { startedAt: ago(600), certificateNotAfter: ago(-seconds) };
  return machine(name, { status: { conditions: [condition('AgentReady', status)], agent } });
}

describe('countFleet', () => {
  it('DAT-02 has the numbers of kubenode component list, for any fleet', () => {
    const machines = fleet([...FLEET_WORDS, 'behind', 'done', 'failed'].join(' '));
    const listed = coverageOf(machines.flatMap(usesOf), [], machines.length);
    const { components } = countFleet(machines, NOW);
    expect([...components.keys()].toSorted()).toEqual(listed.map(({ component }) => component));
    for (const { component, machines: desired, consistent, versions, differing } of listed) {
      expect(components.get(component)?.states).toEqual({
        Desired: desired,
        Installed: versions.reduce((sum, { current }) => sum + current, 0),
        Consistent: consistent,
        Failed: versions.reduce((sum, { failed }) => sum + failed, 0),
        Differing: differing.length,
      });
    }
  });

  it('DAT-02 tells for how long the machine that differs longest was not up to date', () => {
    const counts = countFleet([behind('a', 60), behind('b', 600), machine('c')], NOW);
    expect(counts.components.get('kubelet')?.differingSeconds).toBe(600);
    expect(countFleet([machine('c')], NOW).components.get('kubelet')?.differingSeconds).toBe(0);
  });

  it('DAT-03 counts machines that wait by rule and reason, and knows which the Defender denied', () => {
    const { waits: found } = countFleet(
      [waits('a', 'NodeBusy', 60), waits('b', 'NodeBusy', 900), waits('c', 'GateClosed', 5)],
      NOW,
    );
    expect(found).toEqual([
      { rule: 'disk', reason: 'NodeBusy', machines: 2, seconds: 900, isDenied: true },
      { rule: 'disk', reason: 'GateClosed', machines: 1, seconds: 5, isDenied: false },
    ]);
  });

  it('DAT-06 has the first end of a certificate, of agents that report only', () => {
    const counts = countFleet(
      [ends('a', 900), ends('b', 300), ends('dead', -500, 'Unknown'), machine('new')],
      NOW,
    );
    expect(counts.certificateEnd).toEqual(new Date(ago(-300)));
    expect(countFleet([machine('new')], NOW).certificateEnd).toBeUndefined();
  });
});
