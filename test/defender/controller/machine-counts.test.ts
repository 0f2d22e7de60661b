import { expect, it } from 'vitest';
import { countMachines } from '../../../src/defender/controller/machine-counts.ts';
import { condition, machine } from '../../support/builders.ts';

const JOINED = [
  'InfraReady',
  'CertificateIssued',
  'AgentReady',
  'NodeReady',
  'ComponentsReady',
  'UpToDate',
  'Ready',
];

function machineWith(name: string, not: readonly string[] = [], components: readonly object[] = []) {
  const conditions = JOINED.map((type) => condition(type, not.includes(type) ? 'False' : 'True'));
  return machine(name, { status: { conditions, components: components as never } });
}

it('counts machines by their conditions: one that is updated is not Ready, and not unhealthy', () => {
  const machines = [
    machineWith('ready'),
    machineWith('updating', ['UpToDate', 'Ready'], [{ name: 'web', state: 'Failed' }]),
    machineWith('silent', ['AgentReady', 'Ready']),
    machineWith('broken', ['NodeReady', 'Ready']),
    { ...machineWith('new'), status: undefined } as never,
  ];
  expect(countMachines(machines)).toEqual({
    total: 5,
    ready: 1,
    upToDate: 3,
    failed: 1,
    unhealthy: 2,
    unhealthyMachines: [
      { name: 'broken', phase: 'NotReady' },
      { name: 'silent', phase: 'Unreachable' },
    ],
  });
});

it('names the first twenty unhealthy machines, and counts all', () => {
  const names = Array.from({ length: 30 }, (_, index) => `m-${String(index).padStart(2, '0')}`);
  const { unhealthy, unhealthyMachines } = countMachines(
    names.toReversed().map((name) => machineWith(name, ['AgentReady'])),
  );
  expect(unhealthy).toBe(30);
  expect(unhealthyMachines?.map(({ name }) => name)).toEqual(names.slice(0, 20));
});
