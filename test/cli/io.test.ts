import { describe, expect, it } from 'vitest';
import { shouldUseColor } from '../../src/cli/io.ts';

describe('shouldUseColor', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('decides for %o, terminal: %s', (env, isTerminal, color) => {
    expect(shouldUseColor(env, isTerminal)).toBe(color);
  });
});
