import { describe, expect, it } from 'vitest';
import type { RolloutMode } from '../../../../src/controllers/componentset/rollout/input.ts';
import {
  canariesOf,
  countEarlier,
  mayBeIn,
  nextBatch,
} from '../../../../src/controllers/componentset/rollout/next-batch.ts';
import { BATCH, type InputParts, inputOf, member, NEW, OLD } from './rollout-input.ts';

const CANARY = {
  canary: { machineSelector: { all: false, matchLabels: { canary: 'yes' } }, count: 2, hold: false },
};
const LABEL = { labels: { canary: 'yes' } };
const members = [
  member('a', { at: NEW, batch: 0, ...LABEL }),
  member('b', { at: NEW, batch: 2 }),
  member('c', { at: NEW, batch: 2 }),
  member('d', { at: NEW }),
  member('e', { batch: 1 }),
];
const LEFT = [member('e'), member('f'), member('g')];

function next(parts: InputParts, open: typeof BATCH | undefined, todo = LEFT): string {
  const input = inputOf({ members, ...parts });
  const batch = nextBatch(input, open, { todo, earlier: countEarlier(input, NEW, 'Forward') });
  return batch ? `batch ${batch.index} of ${batch.size}, ${batch.earlier} earlier` : 'none';
}

function at(index: number): typeof BATCH {
  return { ...BATCH, index };
}

describe('countEarlier', () => {
  it.each<[mode: RolloutMode, expected: readonly (readonly [number, number])[]]>([
    [
      'Forward',
      [
        [0, 1],
        [2, 2],
      ],
    ],
    ['Revert', []],
  ])('ROL-05 counts by batch the machines that have the revision already: %s', (mode, expected) => {
    expect([...countEarlier({ members }, NEW, mode)]).toEqual(expected);
  });

  it('ROL-05 counts machines of that revision only', () => {
    expect([...countEarlier({ members }, OLD, 'Forward')]).toEqual([[1, 1]]);
  });
});

describe('nextBatch', () => {
  it.each<[what: string, found: string, expected: string]>([
    ['a machine has the first one', next({}, undefined), 'batch 0 of 1, 1 earlier'],
    ['none has the following one', next({}, at(0)), 'batch 1 of 3, 0 earlier'],
    ['two have the following one', next({}, at(1)), 'batch 2 of 5, 2 earlier'],
    ['none is left, and one has the first one', next({}, undefined, []), 'batch 0 of 1, 1 earlier'],
    ['none is left, and two have a later one', next({}, at(0), []), 'batch 2 of 2, 2 earlier'],
    ['none is left in any', next({}, at(2), []), 'none'],
    ['there is no machine', next({ members: [] }, undefined, []), 'none'],
    ['a canary has it', next({ rollout: CANARY }, undefined), 'batch 0 of 1, 1 earlier'],
    [
      'a canary has it, and another one follows',
      next({ rollout: CANARY }, undefined, [...LEFT, member('h', LABEL)]),
      'batch 0 of 2, 1 earlier',
    ],
    [
      'the canary matches no machine',
      next({ members: LEFT, rollout: CANARY }, undefined),
      'batch 1 of 1, 0 earlier',
    ],
  ])(
    'ROL-05 opens each batch of which a machine is left or has the revision: %s',
    (_what, found, expected) => {
      expect(found).toBe(expected);
    },
  );
});

describe('the canary', () => {
  const input = inputOf({ members, rollout: CANARY });

  it('ROL-02 is the machines of its selector that are left, and those that have the revision', () => {
    const earlier = countEarlier(input, NEW, 'Forward');
    expect(canariesOf(input, { todo: [...LEFT, member('h', LABEL)], earlier })).toBe(2);
    expect(canariesOf(input, { todo: LEFT, earlier: new Map() })).toBe(0);
  });

  it('ROL-02 is alone in the first batch', () => {
    expect(mayBeIn(input, 0, member('h', LABEL))).toBe(true);
    expect(mayBeIn(input, 0, member('h'))).toBe(false);
    expect(mayBeIn(input, 1, member('h'))).toBe(true);
    expect(mayBeIn(inputOf(), 0, member('h'))).toBe(true);
  });
});
