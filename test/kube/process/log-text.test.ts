import { expect, it } from 'vitest';
import { logText } from '../../../src/kube/process/log-text.ts';

const TIME = '2030-01-01T03:12:01.123Z';

it.each([
  [
    'an entry at level info',
    { level: 'info', time: TIME, cluster: 'pre', because: 'changed in git', message: 'object applied' },
    '03:12:01  object applied  cluster=pre because="changed in git"',
  ],
  [
    'a warning with an error, a number and a list',
    {
      level: 'warn',
      time: TIME,
      error: { code: 'Timeout', message: 'no answer' },
      failures: 2,
      keys: ['a'],
      message: 'reconcile failed',
    },
    '03:12:01  warn  reconcile failed  error="no answer" failures=2 keys=["a"]',
  ],
  ['an entry without fields', { level: 'info', time: TIME, message: 'ready' }, '03:12:01  ready'],
  [
    'a text that would begin a line of its own',
    { level: 'info', time: TIME, message: 'applied\n03:12:02  deleted' },
    String.raw`03:12:01  applied\n03:12:02  deleted`,
  ],
  ['an empty value', { level: 'info', time: TIME, unit: '', message: 'ready' }, '03:12:01  ready  unit=""'],
])('is one line: %s', (_, entry, expected) => {
  expect(logText(`${JSON.stringify(entry)}\n`)).toBe(`${expected}\n`);
});

it.each(['not JSON\n', '"a text"\n', '{"cut\n'])('keeps what is not an entry: %j', (line) => {
  expect(logText(line)).toBe(line);
});
