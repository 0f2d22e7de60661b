import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../../src/controllers/componentset/machine/member-state.ts';
import { proofWait } from '../../../../../src/controllers/componentset/rollout/failure/proof.ts';
import { BATCH, inputOf, member, NEW, progressOf } from '../rollout-input.ts';

const OWN = { at: NEW, batch: BATCH.index } as const;
const DIFFERS = { ...OWN, step: 'Differs', reason: 'HostDiffers' } as const;
const FAILED = { ...OWN, step: 'Failed', reason: 'ProbeFailed' } as const;
const HELD = { ...OWN, step: 'InWork', hold: { reason: 'disks', scope: 'All' } } as const;

function waitOf(members: readonly MemberState[], left: readonly MemberState[] = []): unknown {
  const progress = progressOf({ batch: BATCH });
  const wait = proofWait({ ...inputOf({ members, progress }), left }, progress, BATCH);
  return wait && `${wait.reason} ${wait.blocker?.name}: ${wait.because.split(': ').at(-1)}`;
}

describe('proofWait', () => {
  it.each<[what: string, members: readonly MemberState[], expected: string | undefined]>([
    ['one host that differs', [member('a', DIFFERS)], 'NothingProven a: a'],
    ['hosts that all differ', ['a', 'b'].map((name) => member(name, DIFFERS)), 'NothingProven a: a, b'],
    [
      'more hosts than a message names',
      ['a', 'b', 'c', 'd', 'e'].map((name) => member(name, DIFFERS)),
      'NothingProven a: a, b, c and 2 more',
    ],
    [
      'one host more than a message names',
      ['a', 'b', 'c', 'd'].map((name) => member(name, DIFFERS)),
      'NothingProven a: a, b, c and 1 more',
    ],
    [
      'a host that differs beside a failed machine',
      [member('a', FAILED), member('b', DIFFERS)],
      'NothingProven b: b',
    ],
    [
      'a host that differs beside one that a person holds',
      [member('a', HELD), member('b', DIFFERS)],
      'NothingProven b: b',
    ],
    [
      'a host that differs beside a machine of another batch',
      [member('a', { at: NEW, batch: BATCH.index + 1 }), member('b', DIFFERS)],
      'NothingProven b: b',
    ],
    ['a machine that runs the revision', [member('a', OWN), member('b', DIFFERS)], undefined],
    ['a failed machine alone', [member('a', FAILED)], undefined],
    ['no machine', [], undefined],
  ])('ROL-01 judges the proof of a batch with %s', (_what, members, expected) => {
    expect(waitOf(members)).toBe(expected);
  });

  it('ROL-01 counts a machine that ran the revision and left the set since', () => {
    expect(waitOf([member('a', DIFFERS)], [member('b', OWN)])).toBeUndefined();
  });
});
