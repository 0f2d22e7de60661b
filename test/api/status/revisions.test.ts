import { describe, expect, it } from 'vitest';
import { findRevisions } from '../../../src/api/status/revisions.ts';

const KEPT = [
  { commit: 'aaaaaaaa1', digest: 'sha256:1111111100', keptAt: '' },
  { commit: 'aaaaaaaa2', digest: 'sha256:2222222200', keptAt: '' },
];

describe('findRevisions', () => {
  it.each<[text: string, found: readonly number[]]>([
    ['aaaaaaaa1', [0]],
    ['AAAAAAAA2', [1]],
    ['aaaaaaaa', [0, 1]],
    ['sha256:2222222', [1]],
    ['1111111', [0]],
    ['aaaaaa', []],
    ['', []],
    ['bbbbbbbb', []],
  ])('S24 finds the kept revision that %j names', (text, found) => {
    expect(findRevisions(KEPT, text)).toEqual(found.map((index) => KEPT[index]));
  });
});
