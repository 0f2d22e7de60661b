import { describe, expect, it } from 'vitest';
import { memberOf } from '../../../src/controllers/machineset/members.ts';
import { ago, NOW } from '../../support/builders.ts';
import { type MemberWord, machineSet, member } from '../../support/machine-sets.ts';

const set = machineSet(1, { spec: { minReadySeconds: 200 } });

/** What holds of the machine, in words. */
function explain(word: MemberWord): string {
  const found = memberOf(set, member(set, { word, index: 0, age: 1 }), NOW);
  const seconds = found.changesAt && (found.changesAt.getTime() - NOW.getTime()) / 1000;
  const flags: Readonly<Record<string, boolean>> = {
    Deleting: found.isDeleting,
    Ready: found.isReady,
    Available: found.unavailable === undefined,
    Established: found.isEstablished,
    FailedToStart: found.hasFailedToStart,
    Held: found.hold !== undefined,
  };
  const parts = Object.keys(flags).filter((flag) => flags[flag]);
  return [...parts, ...(seconds ? [`changes in ${seconds} s`] : [])].join(' ');
}

describe('memberOf', () => {
  it.each<[MemberWord, string]>([
    ['ready', 'Ready Available Established'],
    ['recovered', 'Ready Established changes in 100 s'],
    ['ill', 'Established'],
    ['nodeless', 'Established'],
    ['new', 'changes in 599 s'],
    ['starting', 'changes in 500 s'],
    ['late', 'FailedToStart'],
    ['registered', 'Established'],
    ['stuck', 'FailedToStart Held'],
    ['leaving', 'Deleting Ready Available Established'],
    ['held', 'Ready Available Established Held'],
  ])('takes a machine that is %s for: %s', (word, want) => {
    expect(explain(word)).toBe(want);
  });

  it('answers since the later of its Node and its agent', () => {
    const { machine, node } = member(set, { word: 'ready', index: 0, age: 1 });
    const conditions = (machine.status?.conditions ?? []).map((each) =>
      each.type === 'NodeReady' ? { ...each, lastTransitionTime: ago(5) } : each,
    );
    const found = memberOf(
      set,
      { machine: { ...machine, status: { ...machine.status, conditions } }, node },
      NOW,
    );
    expect(found.answersSince).toEqual(new Date(ago(5)));
  });

  it('is in the zone of its spec, else of its instance', () => {
    const parts = { status: { infra: { zone: 'b' } } };
    const zoneOf = (more: object) =>
      memberOf(set, member(set, { word: 'ready', index: 0, age: 1 }, { ...parts, ...more }), NOW).zone;
    expect([zoneOf({}), zoneOf({ spec: { zone: 'a' } })]).toEqual(['b', 'a']);
  });
});
