import { describe, expect, it } from 'vitest';
import { scriptFailure } from '../../../../src/providers/ssh/channel/script-end.ts';

describe('scriptFailure', () => {
  it.each([
    [0, '', undefined],
    [3, 'bad', 'the test failed: it ended with 3: bad'],
    [undefined, '', 'the test failed: a signal ended it'],
  ])('%s %j', (exitCode, errorLine, want) => {
    expect(scriptFailure({ exitCode, errorLine, output: '' }, 'test', 'n1')?.message).toBe(want);
  });
});
