import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_PART_BYTES,
  missingParts,
  parsePartName,
  partName,
  planAppend,
} from '../../../src/api/audit/parts.ts';

const LONG = `${'x'.repeat(MAX_PART_BYTES / 2)}\n`;

describe('planAppend', () => {
  it.each<[name: string, text: string, lines: readonly string[], expected: readonly [number, string][]]>([
    ['to an empty part', '', ['a\n'], [[7, 'a\n']]],
    ['after the lines before', 'a\n', ['b\n', 'c\n'], [[7, 'a\nb\nc\n']]],
    ['nothing without lines', 'a\n', [], []],
    ['nothing that is there already', 'a\nb\n', ['b\n', 'a\n'], []],
    ['only what is missing after a lost answer', 'a\nb\n', ['b\n', 'c\n'], [[7, 'a\nb\nc\n']]],
    ['a line of its own after a cut line', 'a', ['b\n'], [[7, 'a\nb\n']]],
    ['to the next part when this one is full', LONG, [`y${LONG}`], [[8, `y${LONG}`]]],
    [
      'to this part and to the next one',
      '',
      [LONG, `y${LONG}`],
      [
        [7, LONG],
        [8, `y${LONG}`],
      ],
    ],
    ['to this part what is small', LONG, ['b\n'], [[7, `${LONG}b\n`]]],
  ])('S30 adds to the parts of the record %s', (_, text, lines, expected) => {
    const parts = planAppend({ number: 7, text }, lines);
    expect(parts.map((part) => [part.number, part.text])).toEqual(expected);
  });

  it('S30 never changes what is written, loses no line, and keeps every part within its size', () => {
    const anyLine = fc.string({ minLength: 1, maxLength: 40 }).map((text) => `${JSON.stringify(text)}\n`);
    const anyLines = fc.uniqueArray(anyLine, { maxLength: 30 });
    fc.assert(
      fc.property(anyLines, anyLines, fc.nat(MAX_PART_BYTES), (before, lines, filler) => {
        const text = `${'z'.repeat(filler)}\n${before.join('')}`;
        const parts = planAppend({ number: 1, text }, lines);
        const same = parts.filter(({ number }) => number === 1);
        expect(same.every((part) => part.text.startsWith(text))).toBe(true);
        const all = new Set([text, ...parts.map((part) => part.text)].join('').split('\n'));
        expect(lines.filter((line) => !all.has(line.slice(0, -1)))).toEqual([]);
        const added = parts.filter(({ number }) => number > 1);
        expect(added.every((part) => Buffer.byteLength(part.text) <= MAX_PART_BYTES)).toBe(true);
      }),
    );
  });
});

describe('parsePartName', () => {
  it.each([
    ['record-sync-000012', { writer: 'sync', number: 12 }],
    ['record-defender-1000000', { writer: 'defender', number: 1_000_000 }],
    ['record-sync', undefined],
    ['record-constructor-000001', undefined],
    ['record-other-000001', undefined],
    ['record-sync-12', undefined],
    ['kube-root-ca.crt', undefined],
  ] as const)('S30 reads the part in the name %s', (name, expected) => {
    expect(parsePartName(name)).toEqual(expected);
  });

  it('S30 reads what partName writes', () => {
    expect(parsePartName(partName('hub', 3))).toEqual({ writer: 'hub', number: 3 });
  });
});

describe('missingParts', () => {
  it.each<
    [name: string, numbers: readonly number[], newest: number | undefined, expected: readonly number[]]
  >([
    ['none of a whole record', [1, 2, 3], 3, []],
    ['none of a record whose oldest parts ended', [5, 6], 6, []],
    ['those in the middle', [1, 4], 4, [2, 3]],
    ['the newest ones, by the head', [1, 2], 4, [3, 4]],
    ['the only one', [], 1, [1]],
    ['none before the first line', [], undefined, []],
    ['none while the head is behind', [1, 2], 1, []],
  ])('S30 finds in the parts of the record %s', (_, numbers, newest, expected) => {
    expect(missingParts(numbers, newest)).toEqual(expected);
  });
});
