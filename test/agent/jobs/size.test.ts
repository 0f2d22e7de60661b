import { expect, it } from 'vitest';
import { parseSize } from '../../../src/agent/jobs/size.ts';

it.each([
  ['1', 1],
  ['64Mi', 64 * 1024 ** 2],
  ['3Ki', 3072],
  ['2Gi', 2 * 1024 ** 3],
  ['1Ti', 1024 ** 4],
  ['0', Number.NaN],
  ['1M', Number.NaN],
  ['-1', Number.NaN],
  ['', Number.NaN],
])('reads the size %s', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});
