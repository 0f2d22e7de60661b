import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../../src/api/generated/types.ts';
import { DELETES_HELD } from '../../../../src/api/status/sync-words.ts';
import { holdHint, hubHoldOf, readHoldHint } from '../../../../src/sync/apply/prune/hold-hint.ts';
import { condition } from '../../../support/builders.ts';

const HELD = { unit: 'fleet.clusters', planDigest: `sha256:${'a1'.repeat(32)}` };

describe('the words that name a held plan', () => {
  it('are read back from a longer message', () => {
    const message = `the hub's own objects: ${holdHint(HELD)}; 1 protected object would be deleted`;
    expect(readHoldHint(message)).toEqual(HELD);
  });

  it.each([
    ['another message', 'unit a is paused'],
    ['a digest that is cut off', holdHint(HELD).slice(0, 80)],
    ['another digest', holdHint({ ...HELD, planDigest: 'sha256:short' })],
  ])('are not found in %s', (_, message) => {
    expect(readHoldHint(message)).toBeUndefined();
  });
});

describe('the held plan of the hub itself', () => {
  const message = `the hub's own objects: ${holdHint(HELD)}; 1 protected object would be deleted`;

  function pipelineWith(change: object): Pipeline {
    const held = { ...condition('Held', 'True'), reason: DELETES_HELD, message, ...change };
    return { status: { conditions: [held] } } as unknown as Pipeline;
  }

  it('is read from the condition of its Pipeline, and from none that reports the plan of a cluster', () => {
    expect(hubHoldOf(pipelineWith({}))).toEqual(HELD);
    expect(hubHoldOf(pipelineWith({ reason: 'PlanHeld' }))).toBeUndefined();
    expect(hubHoldOf(pipelineWith({ status: 'False' }))).toBeUndefined();
    expect(hubHoldOf({})).toBeUndefined();
  });
});
