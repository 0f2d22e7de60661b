import { describe, expect, it } from 'vitest';
import {
  newRotation,
  type RotationState,
} from '../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import {
  endingPhase,
  enteredPhase,
} from '../../../../../src/controllers/hosting/drivers/authorities/steps.ts';
import {
  ROTATION_PHASES,
  type RotationPhase,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';

const WHERE = 'namespace kn-ci';
const KEYS = { old: {}, new: {} };

function inPhase(phase: RotationPhase, parts: Partial<RotationState> = {}): RotationState {
  return { ...newRotation('2026'), phase, isApplied: true, keys: KEYS, ...parts };
}

function entered(before: RotationState | undefined, phase: RotationPhase, id = '2026'): RotationState {
  return enteredPhase(before, { id, phase, where: WHERE, begin: newRotation });
}

/** Returns the phases that may follow, but the same one. */
function followers(before: RotationState | undefined, id?: string): readonly string[] {
  return ROTATION_PHASES.filter((phase) => {
    try {
      return entered(before, phase, id).phase !== before?.phase;
    } catch {
      return false;
    }
  });
}

describe('the phases of a rotation', () => {
  it.each<[before: string, state: RotationState | undefined, after: readonly string[]]>([
    ['nothing', undefined, ['TrustBoth']],
    ['TrustBoth', inPhase('TrustBoth'), ['IssueNew', 'TrustOld']],
    ['IssueNew', inPhase('IssueNew'), ['TrustBoth', 'ServeNew']],
    ['ServeNew', inPhase('ServeNew'), ['TrustBoth', 'TrustNew']],
    ['TrustNew', inPhase('TrustNew'), []],
    ['TrustOld', inPhase('TrustOld'), []],
    ['Completed', inPhase('Completed'), []],
  ])('HOS-22 follow each other, and nothing skips one: after %s', (_, state, after) => {
    expect(followers(state)).toEqual(after);
  });

  it('HOS-22 begin again for another rotation only when the one before is over', () => {
    expect(followers(inPhase('Completed'), '2027')).toEqual(['TrustBoth']);
    expect(followers(inPhase('IssueNew'), '2027')).toEqual([]);
    expect(() => entered(inPhase('IssueNew'), 'ServeNew', '2027')).toThrow('cannot go to ServeNew now');
  });

  it('HOS-22 stay the same when one is asked for twice, and are not written yet when one is entered', () => {
    const before = inPhase('IssueNew');
    expect([entered(before, 'IssueNew'), entered(inPhase('TrustNew'), 'Completed').phase]).toEqual([
      before,
      'TrustNew',
    ]);
    expect(entered(inPhase('TrustBoth'), 'IssueNew')).toMatchObject({
      sequence: 2,
      isApplied: false,
      hasIssued: true,
    });
    expect(entered(before, 'ServeNew')).toMatchObject({ sequence: 1, isApplied: false });
  });

  it.each<[end: 'Completed' | 'Aborted', last: RotationPhase]>([
    ['Completed', 'TrustNew'],
    ['Aborted', 'TrustOld'],
  ])('HOS-22 end as %s after %s only, when its files are written', (end, last) => {
    const asked = { id: '2026', phase: end, where: WHERE };
    expect(endingPhase(inPhase(last), asked)).toMatchObject({ phase: last, isEnding: true });
    for (const state of [
      inPhase(last, { id: '2027' }),
      inPhase(last, { isApplied: false }),
      inPhase('IssueNew'),
      inPhase(last, { keys: undefined }),
    ]) {
      expect(() => endingPhase(state, asked)).toThrow(`cannot go to ${end} now`);
    }
    expect([undefined, inPhase('Completed')].map((state) => endingPhase(state, asked))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
