import { describe, expect, it } from 'vitest';
import { parseJournalEntry } from '../../../../src/agent/detector/sources/journal-entry.ts';

const entry = { __CURSOR: 's=1;i=2', __REALTIME_TIMESTAMP: '1893499200123456', MESSAGE: ' task hung ' };

describe('journal entry', () => {
  it.each([
    [entry.MESSAGE, 'task hung'],
    [[104, 195, 169], 'hé'],
    [['first', 'second'], 'first'],
    [null, ''],
  ])('has time, cursor and message: %j', (MESSAGE, message) => {
    expect(parseJournalEntry(JSON.stringify({ ...entry, MESSAGE }))).toEqual({
      cursor: 's=1;i=2',
      line: { time: new Date('2030-01-01T12:00:00.123Z'), message },
    });
  });

  it.each(['', '-- No entries --', '[]', '{}', JSON.stringify({ ...entry, __CURSOR: 1 })])(
    'does not take %j for an entry',
    (text) => {
      expect(parseJournalEntry(text)).toBeUndefined();
    },
  );
});
