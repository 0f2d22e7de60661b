import { expect, it } from 'vitest';
import { createWatchCheck } from '../../../src/agent/status/watches.ts';
import { memoryLog } from '../../support/memory-log.ts';

const USED_UP = 'inotify instances of this user are used up: raise fs.inotify.max_user_instances';
const SENTENCE = `files are scanned every 20 s and not watched, because ${USED_UP}`;

it('explains for as long as files are not watched, and logs it once each time', () => {
  let because: string | undefined;
  const log = memoryLog();
  const check = createWatchCheck({ retryWatches: () => because }, log);
  const lines = (): readonly string[] => log.lines.map(({ level, message }) => `${level} ${message}`);
  expect(check()).toBeUndefined();
  expect(lines()).toEqual([]);
  because = USED_UP;
  expect([check(), check()]).toEqual([SENTENCE, SENTENCE]);
  expect(lines()).toEqual(['warn files not watched']);
  expect(log.lines[0]?.fields).toEqual({ because: USED_UP, scanSeconds: 20 });
  because = undefined;
  expect([check(), check()]).toEqual([undefined, undefined]);
  expect(lines()).toEqual(['warn files not watched', 'info files watched again']);
});
