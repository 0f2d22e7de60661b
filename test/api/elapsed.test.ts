import { expect, it } from 'vitest';
import { elapsedText, momentText } from '../../src/api/elapsed.ts';
import { formatAge } from '../../src/views/text/age.ts';
import { ago, NOW } from '../support/builders.ts';

it.each([0, 1, 119, 120, 7199, 7200, 172_799, 172_800, 9_000_000])(
  'formats %i seconds as the commands do',
  (seconds) => {
    expect(elapsedText(ago(seconds), NOW.getTime())).toBe(formatAge(ago(seconds), NOW));
    expect(elapsedText(NOW.getTime() / 1000 - seconds, NOW.getTime())).toBe(formatAge(ago(seconds), NOW));
  },
);

it('has no text without a time, and none in the future', () => {
  expect([elapsedText(undefined, 0), elapsedText('never', 0), elapsedText(5, 0)]).toEqual(['', '', '0s']);
});

it.each([
  ['2026-03-02T10:00:00Z', '2026-03-02T10:00:00Z'],
  ['2026-03-02T10:00:00.250Z', '2026-03-02T10:00:00.250Z'],
  ['2026-03-02T11:00:00+01:00', '2026-03-02T10:00:00Z'],
  [1_772_445_600, '2026-03-02T10:00:00Z'],
  [undefined, ''],
  ['never', ''],
])('names the moment of %s as %s', (since, text) => {
  expect(momentText(since)).toBe(text);
});
