import { expect, it } from 'vitest';
import { readableLogLine } from '../../../src/demo/start/log-line.ts';

const ENTRY = {
  level: 'warn',
  time: '2026-11-25T21:41:48.010Z',
  lease: 'a/b',
  message: 'lease not acquired',
};

it.each<[name: string, line: string, want: string]>([
  ['an entry without its fields', JSON.stringify(ENTRY), '21:41:48 warn lease not acquired'],
  [
    'an entry with its error',
    JSON.stringify({ ...ENTRY, error: { message: 'no answer', stack: 'at x' } }),
    '21:41:48 warn lease not acquired: no answer',
  ],
  ['control characters as text', '{"message":"a\\u001b[31mb"}', String.raw`a\u001b[31mb`],
  ['other JSON as it is', '{"kind":"Node"}', '{"kind":"Node"}'],
  ['a line that is cut off as it is', '{"level":"warn","mess', '{"level":"warn","mess'],
  ['text as it is', 'Error: out of memory', 'Error: out of memory'],
  ['a number as it is', '7', '7'],
])('shows %s', (_, line, want) => {
  expect(readableLogLine(line)).toBe(want);
});
