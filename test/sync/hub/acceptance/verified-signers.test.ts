import { describe, expect, it } from 'vitest';
import {
  createVerifiedSigners,
  type HeadSigners,
} from '../../../../src/sync/hub/acceptance/verified-signers.ts';

/** Heads h1, h2, … each after the one before; h0 has a Release. A head without names was not verified. */
function authorsAfter(
  names: readonly string[],
  released: readonly string[] = ['h0'],
): readonly string[] | undefined {
  const signers = createVerifiedSigners();
  for (const [index, name] of names.entries()) {
    const head: HeadSigners = {
      before: `h${index}`,
      ...(name === '' ? {} : { authors: [name], signer: name }),
    };
    signers.put(`h${index + 1}`, head);
  }
  return signers.get(`h${names.length}`, (commit) => released.includes(commit)).authors;
}

describe('createVerifiedSigners', () => {
  it.each<
    [
      what: string,
      names: readonly string[],
      released: readonly string[],
      expected: readonly string[] | undefined,
    ]
  >([
    ['of the head', ['ann'], ['h0'], ['ann']],
    [
      'of heads that were replaced before they got a Release',
      ['ann', 'bob', 'eve'],
      ['h0'],
      ['ann', 'bob', 'eve'],
    ],
    ['of no head that has a Release', ['ann', 'bob'], ['h0', 'h1'], ['bob']],
    ['of no head where one among them was not verified', ['ann', '', 'bob'], ['h0'], undefined],
    ['of everybody where a head before is forgotten', ['ann', 'bob'], [], ['*']],
    ['of no head that was not verified itself', [''], ['h0'], undefined],
  ])('S36 keeps until there is a Release the authors %s', (_, names, released, expected) => {
    expect(authorsAfter(names, released)).toEqual(expected);
  });

  it('S36 knows the authors of the first commit of all, and nothing of a commit that it never had', () => {
    const signers = createVerifiedSigners();
    signers.put('h1', { authors: ['ann'], signer: 'ann' });
    expect(signers.get('h1', () => false)).toEqual({ authors: ['ann'], signer: 'ann' });
    expect(signers.get('h2', () => true)).toEqual({});
  });

  it('S36 forgets the oldest of many heads, and takes their authors for anybody', () => {
    const many = Array.from({ length: 101 }, () => 'ann');
    expect(authorsAfter(many.slice(1))).toEqual(['ann']);
    expect(authorsAfter(many)).toEqual(['*']);
  });

  it('S36 ends where two heads name each other', () => {
    const signers = createVerifiedSigners();
    signers.put('h1', { before: 'h2', authors: ['ann'] });
    signers.put('h2', { before: 'h1', authors: ['bob'] });
    expect(signers.get('h1', () => false).authors).toEqual(['*']);
  });
});
