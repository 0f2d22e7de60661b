import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../../src/api/generated/types.ts';
import type { SetMachine } from '../../../../src/controllers/machineset/members.ts';
import { machineName } from '../../../../src/controllers/machineset/names.ts';
import { planMachineSet } from '../../../../src/controllers/machineset/plan.ts';
import { ago, NOW } from '../../../support/builders.ts';
import {
  explainPlan,
  machineSet,
  member,
  members,
  NO_STORM,
  type SetParts,
} from '../../../support/machine-sets.ts';

describe('planScaling', () => {
  it.each<[name: string, replicas: number, machines: string, want: string, parts?: SetParts]>([
    ['has nothing to do when all is as desired', 3, 'ready new starting', ''],
    ['creates what is missing', 2, '', 'Create #0: 0 of 2 machines exist; Create #1: 0 of 2 machines exist'],
    ['creates under a name that is free', 3, 'ready ready', 'Create #2: 2 of 3 machines exist'],
    ['replaces a machine that is being deleted', 2, 'ready leaving', 'Create #2: 1 of 2 machines exist'],
    [
      'waits when too many are still being deleted',
      2,
      'leaving leaving leaving leaving',
      'wait Overshoot Machine/#3: 4 machines are still being deleted, and at most 2 may exist above replicas',
    ],
    [
      'MAC-40 creates a machine in place of each one that is kept',
      2,
      'kept kept kept ready',
      'Create #4: 1 of 2 machines exist',
    ],
    [
      'MAC-40 replaces a machine that does not start while another one is kept',
      2,
      'kept ready late',
      'Delete #2: it was not Ready within spec.startupTimeoutSeconds',
      { spec: { stormGuard: NO_STORM } },
    ],
    [
      'creates no more than may exist above the desired number',
      2,
      'leaving leaving leaving',
      'Create #3: 0 of 2 machines exist',
    ],
    [
      'deletes the oldest',
      1,
      'ready ready ready',
      'Delete #0: 3 machines exist, 1 are desired: the oldest first; Delete #1: 3 machines exist, 1 are desired: the oldest first',
    ],
    ['counts no machine that is being deleted', 1, 'leaving ready', ''],
    [
      'deletes what is not Ready first',
      1,
      'ready new',
      'Delete #1: 2 machines exist, 1 are desired: no instance',
    ],
    [
      'never chooses a held machine',
      1,
      'held ready',
      'Delete #1: 2 machines exist, 1 are desired: the oldest first',
    ],
    [
      'waits for held machines, and names them',
      0,
      'held frozen',
      'wait MachinesHeld Machine/#1: held machines are not deleted: #1 (forensics), #0 (debugging)',
    ],
    [
      'deletes the others meanwhile',
      0,
      'held ready',
      'Delete #1: 2 machines exist, 0 are desired: the oldest first; wait MachinesHeld Machine/#0: held machines are not deleted: #0 (debugging)',
    ],
    ['does nothing while paused', 3, 'ready', 'wait Paused: spec.paused is true', { spec: { paused: true } }],
    [
      'replaces a machine that does not start',
      2,
      'ready late',
      'Delete #1: it was not Ready within spec.startupTimeoutSeconds',
      { spec: { stormGuard: NO_STORM } },
    ],
    [
      'replaces one at a time',
      3,
      'ready late late',
      'Delete #1: it was not Ready within spec.startupTimeoutSeconds',
      { spec: { stormGuard: NO_STORM } },
    ],
    ['replaces none while another one is deleted', 2, 'ready late leaving', ''],
    ['never replaces a machine that was Ready once', 3, 'ready ill ready', ''],
    ['never replaces a machine whose Node was deleted', 3, 'ready nodeless ready', ''],
    ['never replaces a held machine', 3, 'ready ready stuck', ''],
    [
      'deletes all of a set that is deleted, although it is paused',
      2,
      'ready leaving',
      'Delete #0: MachineSet general is deleted: the oldest first',
      { metadata: { deletionTimestamp: ago(1) }, spec: { paused: true } },
    ],
    ['ends with the last machine', 2, '', 'finished', { metadata: { deletionTimestamp: ago(1) } }],
    ['does not end before it', 2, 'leaving', '', { metadata: { deletionTimestamp: ago(1) } }],
  ])('%s', (...[, replicas, machines, want, parts]) => {
    const set = machineSet(replicas, parts);
    expect(explainPlan(set, members(set, machines))).toBe(want);
  });

  it('spreads new machines over the zones', () => {
    const set = machineSet(6, { spec: { zones: ['a', 'b', 'c'] } });
    const zones = planMachineSet({ set, machines: members(set, 'ready', { spec: { zone: 'b' } }), now: NOW });
    expect(zones.actions.map((action) => action.type === 'Create' && action.zone)).toEqual([
      'a',
      'c',
      'a',
      'b',
      'c',
    ]);
  });

  it('creates and deletes a bounded number at once', () => {
    const [many, none] = [machineSet(1000), machineSet(0)];
    const all = members(none, 'ready '.repeat(300));
    expect(planMachineSet({ set: many, machines: [], now: NOW }).actions).toHaveLength(50);
    expect(planMachineSet({ set: none, machines: all, now: NOW }).actions).toHaveLength(20);
  });

  it('MAC-30 ends with exactly the desired number, whatever it begins with', () => {
    const word = fc.constantFrom('ready', 'ready', 'new', 'starting', 'leaving');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.nat(30), (words, replicas) => {
        const set = machineSet(replicas, { spec: { stormGuard: NO_STORM } });
        let machines = members(set, words.join(' '));
        for (let round = 0; round < 60; round += 1) {
          const { actions } = planMachineSet({ set, machines, now: NOW });
          const overshoot = machines.length + actions.filter((action) => action.type === 'Create').length;
          expect(overshoot).toBeLessThanOrEqual(Math.max(machines.length, replicas + 2));
          machines = after(set, machines, actions);
        }
        expect(machines).toHaveLength(replicas);
      }),
    );
  });
});

/** At the next reconcile what was deleted does not exist, and what was created is Ready. */
function after(
  set: MachineSet,
  machines: readonly SetMachine[],
  actions: ReturnType<typeof planMachineSet>['actions'],
): readonly SetMachine[] {
  const left = machines.filter(({ machine: { metadata } }) => metadata.deletionTimestamp === undefined);
  const deleted = actions.flatMap((action) => (action.type === 'Delete' ? [action.name] : []));
  const created = actions.flatMap((action) => (action.type === 'Create' ? [action.name] : []));
  const indices = Array.from({ length: 200 }, (_, index) => index);
  return [
    ...left.filter(({ machine: { metadata } }) => !deleted.includes(metadata.name)),
    ...indices
      .filter((index) => created.includes(machineName(set.metadata, index)))
      .map((index) => member(set, { word: 'ready', index, age: 1 })),
  ];
}
