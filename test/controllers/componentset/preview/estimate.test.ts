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
  interface Row {
    readonly what: string;
    readonly mode?: RolloutMode;
    readonly rollout?: Rollout;
    readonly sizes: readonly number[];
    readonly seconds: readonly [shortest: number, longest: number];
  }

  it.each<Row>([
    { what: 'a soak for each batch, and the limit of each machine', sizes: [1, 1], seconds: [120, 720] },
    { what: 'machines at the same time once', sizes: [2], seconds: [60, 360] },
    { what: 'one machine more in a round of its own', sizes: [3], seconds: [60, 660] },
    { what: 'a batch that has its machines already as a soak', sizes: [0, 1], seconds: [120, 420] },
    { what: 'a percentage of the set', rollout: { maxUnavailable: '50%' }, sizes: [3], seconds: [60, 360] },
    { what: 'one at a time at least', rollout: { maxUnavailable: 0 }, sizes: [2], seconds: [60, 660] },
    { what: 'no soak in a revert', mode: 'Revert', sizes: [1, 1], seconds: [0, 600] },
    { what: 'nothing for no batch', sizes: [], seconds: [0, 0] },
  ])('counts $what', ({ mode = 'Forward', rollout, sizes, seconds: [shortestSeconds, longestSeconds] }) => {
    const found = estimateDuration(inputWith(rollout), mode, batchesOf(...sizes));
    expect(found).toEqual({ shortestSeconds, longestSeconds });
  });

  it('ends with the soaks and two minutes for each round', () => {
    const input = inputWith();
    expect(estimateEnd(input, 'Forward', batchesOf(1, 3))).toEqual(
      new Date(+input.now + (3 * 120 + 120) * 1000),
    );
  });

  it.each<[name: string, rollout: Rollout]>([
    ['every batch', { gate: { ...GATE, approval: 'EveryBatch' } }],
    ['the first batch', { gate: { ...GATE, approval: 'FirstBatch' } }],
    ['the canary', { canary: { machineSelector: { all: false, matchLabels: {} }, count: 1, hold: true } }],
  ])('is not known where a person approves %s, but for a revert', (_, rollout) => {
    const input = inputWith(rollout);
    expect(estimateDuration(input, 'Forward', batchesOf(1))).toBeUndefined();
    expect(estimateEnd(input, 'Forward', batchesOf(1))).toBeUndefined();
    expect(estimateDuration(input, 'Revert', batchesOf(1))).toEqual({
      shortestSeconds: 0,
      longestSeconds: 300,
    });
  });
});
