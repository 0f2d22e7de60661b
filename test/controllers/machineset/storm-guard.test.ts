import { describe, expect, it } from 'vitest';
import { ago, condition } from '../../support/builders.ts';
import { explainPlan, machineSet, member, members, type SetParts } from '../../support/machine-sets.ts';

const STORM = { status: { conditions: [condition('StormGuardActive', 'True')] } };
const RAISE = 'To act all the same, raise spec.stormGuard';

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
