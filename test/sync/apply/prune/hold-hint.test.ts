import { describe, expect, it } from 'vitest';
import { holdHint, readHoldHint } from '../../../../src/sync/apply/prune/hold-hint.ts';

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
