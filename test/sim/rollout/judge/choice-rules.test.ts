import { describe, expect, it } from 'vitest';
import { choiceViolations } from '../../../../src/sim/rollout/judge/choice-rules.ts';
import {
  type JudgedFleet,
  type JudgedMachine,
  machineOf,
  setOf,
} from '../../../../src/sim/rollout/judge/judged-fleet.ts';

const SET = 'general';

/** Two machines of rack r1 that serve at the old revision. */
function judgedFleet(): {
  readonly fleet: JudgedFleet;
  readonly a: JudgedMachine;
  readonly b: JudgedMachine;
} {
  const fleet: JudgedFleet = { sets: new Map(), machines: new Map(), clocks: [] };
  const [a, b] = ['a', 'b'].map((name) => {
    const machine = machineOf(fleet, name);
    const truth = { machine: name, set: SET, revision: 'old', state: 'Committed' } as const;
    machine.hosts.set(SET, { truth, sinceMs: 0, isOut: false });
    machine.truth = { ...machine.truth, exists: true, serves: true, sets: [SET], rack: 'r1' };
    return machine;
  });
  if (!a || !b) throw new Error('expected two machines');
  return { fleet, a, b };
}

function found(
  limits: { kept?: number; maxOfDomain?: number },
  isOut = false,
  isProven = false,
): readonly string[] {
  const { fleet, a, b } = judgedFleet();
  const set = setOf(fleet, SET);
  set.desired.push({
    set: SET,
    exists: true,
    paused: false,
    maxUnavailable: 9,
    maxFailed: 0,
    soakMs: 0,
    timeoutMs: 0,
    maxBatch: 9,
    ...limits,
    atMs: 0,
  });
  if (isProven) set.proven.add('new');
  const host = b.hosts.get(SET);
  if (host) host.isOut = isOut;
  const start = { machine: 'a', set: SET, revision: 'new', batch: 0, kind: 'Update' } as const;
  return choiceViolations(fleet, { set, machine: a, start, atMs: 1_000_000 });
}

describe('choiceViolations', () => {
  it('finds a second machine of a rack in work, unless the revision completed before', () => {
    const broken = ['2 machines of rack r1 in work, and 1 allowed'];
    expect(found({ maxOfDomain: 1 }, true)).toEqual(broken);
    expect(found({ maxOfDomain: 1 })).toEqual([]);
    expect(found({}, true)).toEqual([]);
    expect(found({ maxOfDomain: 1 }, true, true)).toEqual([]);
  });

  it('finds a start that leaves too few machines at the old revision', () => {
    expect(found({ kept: 2 })).toEqual(['1 machines keep the old revision, and 2 should']);
    expect(found({ kept: 1 })).toEqual([]);
    expect(found({ kept: 2 }, false, true)).toEqual([]);
  });
});
