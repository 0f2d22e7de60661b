import { expect, it } from 'vitest';
import { createRecent, VIEW_DELAY_MS } from '../../../../src/sim/machines/judge/recent.ts';

it('keeps what was in force within the delay of a view, and what is in force now', () => {
  let nowMs = 0;
  const recent = createRecent<string>(() => nowMs);
  recent.add('a');
  nowMs = 1000;
  recent.add('b');
  expect(recent.values()).toEqual(['a', 'b']);
  nowMs = 1000 + VIEW_DELAY_MS - 1;
  expect(recent.values()).toEqual(['a', 'b']);
  nowMs = 1000 + VIEW_DELAY_MS;
  expect(recent.values()).toEqual(['b']);
  recent.add('c');
  expect(recent.values()).toEqual(['b', 'c']);
});
