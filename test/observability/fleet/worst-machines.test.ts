import { describe, expect, it } from 'vitest';
import type { Machine, MachineRepair } from '../../../src/api/generated/types.ts';
import { worstMachines } from '../../../src/observability/fleet/worst-machines.ts';
import { ago, machine, NOW } from '../../support/builders.ts';

const DAY = 86_400;

function repaired(name: string, ...recent: readonly MachineRepair[]): Machine {
  return machine(name, { status: { conditions: [], repairs: { recent } } });
}

const reboot = (seconds: number): MachineRepair => ({ risk: 'Node', at: ago(seconds), outcome: 'Succeeded' });
const times = (count: number): readonly MachineRepair[] => Array.from({ length: count }, () => reboot(DAY));

describe('worstMachines', () => {
  it.each<[what: string, machines: readonly Machine[], expected: readonly (readonly [string, number])[]]>([
    ['none of a fleet without repairs', [machine('m-1')], []],
    ['not one that was repaired once', [repaired('m-1', reboot(60))], []],
    [
      'those of seven days, the worst first',
      [repaired('m-1', reboot(60), reboot(2 * DAY)), repaired('m-2', ...times(3))],
      [
        ['m-2', 3],
        ['m-1', 2],
      ],
    ],
    ['no repair that is older', [repaired('m-1', reboot(60), reboot(8 * DAY))], []],
    ['no job that disturbed nothing', [repaired('m-1', reboot(60), { risk: 'None', at: ago(60) })], []],
    ['no repair without a time', [repaired('m-1', reboot(60), { risk: 'Node' })], []],
  ])('names %s', (_, machines, expected) => {
    expect(worstMachines(machines, NOW).map(({ machine: name, repairs }) => [name, repairs])).toEqual(
      expected,
    );
  });

  it('names ten of many, equal ones by their names', () => {
    const machines = Array.from({ length: 30 }, (_, index) =>
      repaired(`m-${String(29 - index).padStart(2, '0')}`, ...times(2)),
    );
    const names = worstMachines(machines, NOW).map(({ machine: name }) => name);
    expect(names).toEqual(Array.from({ length: 10 }, (_, index) => `m-0${index}`));
  });
});
