import { describe, expect, it } from 'vitest';
import type { RevisionRecord } from '../../../../src/api/generated/types.ts';
import {
  addRecord,
  isProvenRevision,
  isRefusedRevision,
  isRollingBack,
  type RevisionHistory,
  recordFor,
} from '../../../../src/controllers/componentset/revision/history.ts';

type Result = NonNullable<RevisionRecord['result']>;

function record(revision: string, result: Result, more: Partial<RevisionRecord> = {}): RevisionRecord {
  return { revision, result, finishedAt: '2030-01-01T00:00:00Z', ...more };
}

/** `a:Completed b:RolledBack`, oldest first. */
function historyOf(words: string): RevisionHistory {
  return words
    .split(' ')
    .filter(Boolean)
    .map((word) => word.split(':'))
    .reduce<RevisionHistory>(
      (history, [revision = '', result]) => addRecord(history, record(revision, result as Result)),
      [],
    );
}

const named = (history: RevisionHistory): string =>
  history.map(({ revision, result }) => `${revision}:${result}`).join(' ');
const numbered = (count: number, result: Result): string =>
  Array.from({ length: count }, (_, index) => `n${index}:${result}`).join(' ');

describe('addRecord', () => {
  it.each<[what: string, words: string, expected: string]>([
    ['puts the newest first', 'a:Completed b:RolledBack', 'b:RolledBack a:Completed'],
    ['keeps one record of a revision', 'a:Completed b:RolledBack a:Completed', 'a:Completed b:RolledBack'],
    ['replaces what a revision was before', 'a:Completed a:RolledBack', 'a:RolledBack'],
  ])('ROL-33 %s, newest record of the history first', (_what, words, expected) => {
    expect(named(historyOf(words))).toBe(expected);
  });

  it('ROL-62 keeps at most ten records', () => {
    const history = historyOf(`${numbered(12, 'Completed')} last:Completed`);
    expect(history).toHaveLength(10);
    expect(history.at(0)?.revision).toBe('last');
    expect(history.at(-1)?.revision).toBe('n3');
  });

  it('ROL-33 never forgets the last Completed revision, however many fail after it', () => {
    const history = historyOf(`old:Completed good:Completed ${numbered(30, 'RolledBack')}`);
    expect(history).toHaveLength(10);
    expect(history.at(-1)?.revision).toBe('good');
    expect(history.at(0)?.revision).toBe('n29');
  });
});

describe('isProvenRevision', () => {
  it.each<[what: string, words: string, expected: boolean]>([
    ['completed', 'a:Completed b:Completed', true],
    ['never ran', 'b:Completed', false],
    ['was replaced by an edit', 'a:Superseded', false],
    ['completed once, and was rolled back later', 'a:Completed a:RolledBack', false],
    ['was rolled back, and completed when tried again', 'a:RolledBack a:Completed', true],
  ])('ROL-33 tells whether a revision that %s needs no soak', (_what, words, expected) => {
    expect(isProvenRevision(historyOf(words), 'a')).toBe(expected);
  });
});

describe('isRefusedRevision', () => {
  const rolledBack = addRecord([], record('a', 'RolledBack', { retryToken: 'x' }));

  it('ROL-32 refuses a revision that was rolled back until the retry token changes', () => {
    expect(isRefusedRevision(rolledBack, 'a', 'x')).toBe(true);
    expect(isRefusedRevision(rolledBack, 'a', 'y')).toBe(false);
    expect(isRefusedRevision(rolledBack, 'a', undefined)).toBe(false);
    expect(isRefusedRevision(historyOf('a:RolledBack'), 'a', undefined)).toBe(true);
  });

  it('ROL-32 refuses no other revision', () => {
    expect(isRefusedRevision(rolledBack, 'b', 'x')).toBe(false);
    expect(isRefusedRevision(historyOf('a:Completed b:Superseded'), 'a', undefined)).toBe(false);
    expect(isRefusedRevision(historyOf('a:Completed b:Superseded'), 'b', undefined)).toBe(false);
  });

  it('ROL-32 still refuses it after another revision ran in between', () => {
    expect(isRefusedRevision(historyOf('a:Completed b:RolledBack a:Completed'), 'b', undefined)).toBe(true);
  });
});

describe('isRollingBack', () => {
  it('ROL-32 lasts from the decision until the last machine is back', () => {
    const revision = { name: 'a', components: [] };
    const begun = addRecord([], recordFor(revision, { result: 'RolledBack' }));
    expect(isRollingBack(begun, 'a')).toBe(true);
    expect(isRollingBack(begun, 'b')).toBe(false);
    const ended = recordFor(revision, { result: 'RolledBack', finishedAt: '2030-01-01T00:00:00Z' });
    expect(isRollingBack(addRecord(begun, ended), 'a')).toBe(false);
    expect(isRollingBack(historyOf('a:Completed'), 'a')).toBe(false);
  });
});
