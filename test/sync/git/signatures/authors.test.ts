import { describe, expect, it } from 'vitest';
import { joinAuthors, statedAuthors } from '../../../../src/sync/git/signatures/authors.ts';

function commit(author: string, message: string): readonly string[] {
  const text = `tree ${'0'.repeat(40)}\nauthor ${author}\ncommitter Host <host@example.com> 1893456000 +0000\n\n${message}`;
  return statedAuthors({ type: 'commit', content: Buffer.from(text) });
}

const ANN = 'Ann <ann@example.com> 1893456000 +0000';

describe('statedAuthors', () => {
  it.each<[what: string, author: string, message: string, expected: readonly string[]]>([
    ['the author, and not the committer', ANN, 'change', ['ann', 'ann@example.com']],
    [
      'co-authors, in any case',
      ANN,
      'change\n\nCo-Authored-By: Bob <bob@example.com>\nco-authored-by:Eve<eve@example.com>',
      ['ann', 'ann@example.com', 'bob', 'bob@example.com', 'eve', 'eve@example.com'],
    ],
    ['nobody in a line without an address', 'Ann', 'change\n\nCo-authored-by: Bob', []],
    [
      'nobody in a line that never ends',
      '<'.repeat(100_000),
      `Co-authored-by: ${' '.repeat(1_000_000)}x`,
      [],
    ],
    ['no author in the message', 'x', 'change\n\nauthor Eve <eve@example.com> 1 +0000', []],
  ])('S36 finds whom a commit names: %s', (_, author, message, expected) => {
    expect(joinAuthors(commit(author, message))).toEqual(expected);
  });
});

describe('joinAuthors', () => {
  it('S36 has one spelling of a name, cut to what a Release can keep', () => {
    expect(joinAuthors(['ANN@example.com ', 'ann@example.com', '', `${'x'.repeat(127)}😀`])).toEqual([
      'ann@example.com',
      `${'x'.repeat(127)}\uFFFD`,
    ]);
  });

  it('S36 is everybody for more names than a Release keeps, and where somebody is unknown', () => {
    const names = Array.from({ length: 101 }, (_, index) => `name-${index}`);
    expect(joinAuthors(names.slice(1))).toHaveLength(100);
    expect(joinAuthors(names)).toEqual(['*']);
    expect(joinAuthors(['ann', '*'])).toEqual(['*']);
  });
});
