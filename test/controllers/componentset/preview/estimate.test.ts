import { describe, expect, it } from 'vitest';
import {
  type BatchMembers,
  estimateDuration,
  estimateEnd,
} from '../../../../src/controllers/componentset/preview/estimate.ts';
import type { RolloutInput, RolloutMode } from '../../../../src/controllers/componentset/rollout/input.ts';
import { type InputParts, inputOf, member } from '../rollout/rollout-input.ts';

type Rollout = NonNullable<InputParts['rollout']>;

const GATE = { soakSeconds: 60, checks: [], approval: 'None' } as const;
const ROLLOUT: Rollout = { gate: GATE, maxUnavailable: 2, machineTimeoutSeconds: 300 };

function inputWith(rollout: Rollout = {}): RolloutInput {
  const members = Array.from({ length: 6 }, (_, index) => member(`m-${index}`));
  return inputOf({ members, rollout: { ...ROLLOUT, ...rollout } });
}

function batchesOf(...sizes: readonly number[]): readonly BatchMembers[] {
  return sizes.map((size, index) => ({
    index,
    members: Array.from({ length: size }, (_, machine) => member(`b-${index}-${machine}`)),
  }));
}

describe('the time of a rollout', () => {
  it.each<[name: string, mode: RolloutMode, rollout: Rollout, sizes: readonly number[], shortest: number, longest: number]>([
    ['a soak for each batch, and the limit of each machine', 'Forward', {}, [1, 1], 120, 720],
    ['machines at the same time once', 'Forward', {}, [2], 60, 360],
    ['one machine more in a round of its own', 'Forward', {}, [3], 60, 660],
    ['a batch that has its machines already as a soak', 'Forward', {}, [0, 1], 120, 420],
    ['a percentage of the machines of the set', 'Forward', { maxUnavailable: '50%' }, [3], 60, 360],
    ['one at a time, even where none may be out of service', 'Forward', { maxUnavailable: 0 }, [2], 60, 660],
    ['no soak in a revert', 'Revert', {}, [1, 1], 0, 600],
    ['nothing for no batch', 'Forward', {}, [], 0, 0],
  ])('counts %s', (_, mode, rollout, sizes, shortestSeconds, longestSeconds) => {
    expect(estimateDuration(inputWith(rollout), mode, batchesOf(...sizes))).toEqual({
      shortestSeconds,
      longestSeconds,
    });
  });

  it('ends with the soaks and two minutes for each round', () => {
    const input = inputWith();
    expect(estimateEnd(input, 'Forward', batchesOf(1, 3))).toEqual(new Date(+input.now + (3 * 120 + 120) * 1000));
  });

  it.each<[name: string, rollout: Rollout]>([
    ['every batch', { gate: { ...GATE, approval: 'EveryBatch' } }],
    ['the first batch', { gate: { ...GATE, approval: 'FirstBatch' } }],
    ['the canary', { canary: { machineSelector: { all: false, matchLabels: {} }, count: 1, hold: true } }],
  ])('is not known where a person approves %s, but for a revert', (_, rollout) => {
    const input = inputWith(rollout);
    expect(estimateDuration(input, 'Forward', batchesOf(1))).toBeUndefined();
    expect(estimateEnd(input, 'Forward', batchesOf(1))).toBeUndefined();
    expect(estimateDuration(input, 'Revert', batchesOf(1))).toEqual({ shortestSeconds: 0, longestSeconds: 300 });
  });
});
