import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import type { SetMachine } from '../../../src/controllers/machineset/members.ts';
import { planMachineSet } from '../../../src/controllers/machineset/plan.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { explainPlan, machineSet, member, members, type SetParts } from '../../support/machine-sets.ts';

const STORM = { status: { conditions: [condition('StormGuardActive', 'True')] } };
const RAISE = 'To act all the same, raise spec.stormGuard';

const DELETED = { metadata: { deletionTimestamp: ago(1) } };

interface PartitionPlan {
  readonly verbs: readonly string[];
  readonly wait: string | undefined;
  readonly unhealthy: number | undefined;
}

/** Ten machines, of which the agents and kubelets of some cannot reach the API server. */
function partitioned(replicas: number, unreachable: number, parts?: SetParts): PartitionPlan {
  const set = machineSet(replicas, parts);
  const machines = members(set, `${'ready '.repeat(10 - unreachable)}${'ill '.repeat(unreachable)}`);
  const { actions, wait, storm } = planMachineSet({ set, machines, now: NOW });
  return { verbs: actions.map((action) => action.type), wait: wait?.reason, unhealthy: storm?.unhealthy };
}

function stopped(unhealthy: number): PartitionPlan {
  return { verbs: [], wait: 'StormGuardActive', unhealthy };
}

function acting(verb: string, count: number): PartitionPlan {
  return { verbs: Array.from({ length: count }, () => verb), wait: undefined, unhealthy: undefined };
}

function outcome(set: MachineSet, machines: readonly SetMachine[]): string {
  const { actions, wait } = planMachineSet({ set, machines, now: NOW });
  if (wait?.reason === 'StormGuardActive' && actions.length === 0) return 'holds';
  return actions.map((action) => action.type).join() === 'Create' ? 'goes on' : 'neither';
}

describe('stormOf', () => {
  it.each<[name: string, replicas: number, machines: string, want: string, parts?: SetParts]>([
    [
      'counts machines that start as neither well nor ill',
      4,
      'ready new new',
      'Create #3: 3 of 4 machines exist',
    ],
    ['MAC-33 goes on at the limit', 6, 'ready ready ready ill ill', 'Create #5: 5 of 6 machines exist'],
    [
      'MAC-33 creates nothing above the limit',
      6,
      'ready ready ill ill ill',
      `wait StormGuardActive: 3 of 5 machines of the set are unhealthy or unknown; the limit is 2. ${RAISE}`,
    ],
    [
      'MAC-33 deletes nothing above the limit',
      2,
      'ready ready ill ill ill',
      `wait StormGuardActive: 3 of 5 machines of the set are unhealthy or unknown; the limit is 2. ${RAISE}`,
    ],
    [
      'MAC-33 deletes nothing of a deleted set above the limit',
      2,
      'ill ill',
      `wait StormGuardActive: 2 of 2 machines of the set are unhealthy or unknown; the limit is 1. ${RAISE}`,
      { metadata: { deletionTimestamp: ago(1) } },
    ],
    [
      'MAC-33 replaces nothing while many machines do not start',
      3,
      'ready late late',
      `wait StormGuardActive: 2 of 3 machines of the set are unhealthy or unknown; the limit is 1. ${RAISE}`,
    ],
    [
      'MAC-33 thaws only after machines were well for long enough',
      6,
      'ready ready recovered recovered ill',
      `wait StormGuardActive: 3 of 5 machines of the set are unhealthy or were within the last 300 s; the limit is 2. ${RAISE}`,
      STORM,
    ],
    [
      'MAC-33 acts after the thaw',
      6,
      'ready ready ready recovered ill',
      'Create #5: 5 of 6 machines exist',
      STORM,
    ],
    [
      'MAC-33 asks for no thaw without a storm',
      6,
      'ready ready recovered recovered ill',
      'Create #5: 5 of 6 machines exist',
    ],
    [
      'MAC-33 counts no machine that is being deleted',
      5,
      'ready ready ill ill leaving',
      `wait StormGuardActive: 2 of 4 machines of the set are unhealthy or unknown; the limit is 1. ${RAISE}`,
    ],
  ])('%s', (...[, replicas, machines, want, parts]) => {
    const set = machineSet(replicas, parts);
    expect(explainPlan(set, members(set, machines))).toBe(want);
  });

  describe('a partition', () => {
    it.each([100, 60, 50])(
      'MAC-33 creates and deletes nothing while %i percent of the nodes are unknown',
      (percent) => {
        const count = percent / 10;
        expect(partitioned(4, count)).toEqual(stopped(count));
        expect(partitioned(12, count)).toEqual(stopped(count));
        expect(partitioned(10, count, DELETED)).toEqual(stopped(count));
      },
    );

    it.each([40, 30, 0])('MAC-33 goes on while %i percent of the nodes are unknown', (percent) => {
      const count = percent / 10;
      expect(partitioned(4, count)).toEqual(acting('Delete', 6));
      expect(partitioned(12, count)).toEqual(acting('Create', 2));
      expect(partitioned(10, count, DELETED)).toEqual(acting('Delete', 10));
    });
  });

  describe('a small set or zone', () => {
    it.each([
      [1, 1, 'goes on'],
      [2, 1, 'goes on'],
      [2, 2, 'holds'],
      [3, 1, 'goes on'],
      [3, 2, 'holds'],
      [4, 1, 'goes on'],
      [4, 2, 'holds'],
      [5, 2, 'goes on'],
      [5, 3, 'holds'],
      [20, 8, 'goes on'],
      [20, 9, 'holds'],
    ])('MAC-33 in a set of %i, with %i unhealthy, %s', (count, unhealthy, want) => {
      const set = machineSet(count + 1);
      const words = 'ready '.repeat(count - unhealthy) + 'ill '.repeat(unhealthy);
      expect(outcome(set, members(set, words))).toBe(want);
    });

    it.each([
      [1, 1, 'goes on'],
      [2, 1, 'goes on'],
      [2, 2, 'holds'],
      [3, 1, 'goes on'],
      [3, 2, 'holds'],
      [7, 1, 'goes on'],
      [7, 2, 'holds'],
      [8, 2, 'goes on'],
      [8, 3, 'holds'],
    ])('MAC-33 in a zone of %i, with %i unhealthy, %s', (count, unhealthy, want) => {
      const set = machineSet(count + 13);
      // The others are well, so that the limit of the set is far away.
      const others = members(set, 'ready '.repeat(12), { spec: { zone: 'east' } });
      const dark = Array.from({ length: count }, (_, index) =>
        member(
          set,
          { word: index < unhealthy ? 'ill' : 'ready', index: index + 12, age: 1 },
          { spec: { zone: 'west' } },
        ),
      );
      expect(outcome(set, [...others, ...dark])).toBe(want);
    });

    it('MAC-33 lets a set of two replace the one that did not start, and scale past the one that is ill', () => {
      expect(explainPlan(machineSet(2), members(machineSet(2), 'ready late'))).toContain(
        'Delete #1: it was not',
      );
      expect(explainPlan(machineSet(3), members(machineSet(3), 'ready ill'))).toContain('Create #2');
      expect(explainPlan(machineSet(1), members(machineSet(1), 'ready ill'))).toContain('Delete #1');
    });
  });

  it('MAC-33 holds when one zone is dark, although the set is well', () => {
    const set = machineSet(9);
    const east = members(set, 'ready ready ready ready', { spec: { zone: 'east' } });
    const west = [4, 5, 6, 7].map((index) =>
      member(set, { word: index < 6 ? 'ready' : 'ill', index, age: 1 }, { spec: { zone: 'west' } }),
    );
    expect(explainPlan(set, [...east, ...west])).toBe(
      `wait StormGuardActive: 2 of 4 machines of zone west are unhealthy or unknown; the limit is 1. ${RAISE}`,
    );
    expect(explainPlan(set, [...east, ...west.slice(0, 3)])).toContain('Create #7');
  });
});
