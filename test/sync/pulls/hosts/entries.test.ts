import { describe, expect, it } from 'vitest';
import { commentId, commentsIn, pullOf, recordsIn } from '../../../../src/sync/pulls/hosts/entries.ts';

const SHA = 'a'.repeat(40);

describe('S22 the entries of a list that a git host answers', () => {
  it.each<[answer: unknown, expected: readonly unknown[]]>([
    [[{ a: 1 }, null, 7, 'x', [1]], [{ a: 1 }]],
    [{ a: 1 }, []],
    [undefined, []],
  ])('of %j are its records', (answer, expected) => {
    expect(recordsIn(answer)).toEqual(expected);
  });

  it.each<[number: unknown, head: unknown, count: number]>([
    [1, SHA, 1],
    [2_147_483_647, 'b'.repeat(64), 1],
    [0, SHA, 0],
    [-1, SHA, 0],
    [1.5, SHA, 0],
    [2_147_483_648, SHA, 0],
    ['1', SHA, 0],
    [1, SHA.slice(1), 0],
    [1, SHA.toUpperCase(), 0],
    [1, `${SHA}\n`, 0],
    [1, 7, 0],
  ])('with the number %j and the head %j are %d pull requests', (number, head, count) => {
    expect(pullOf(number, head, false)).toHaveLength(count);
  });

  it.each<[comment: unknown, id: string | undefined]>([
    [{ id: 2_400_000_000 }, '2400000000'],
    [{ id: 0 }, undefined],
    [{ id: -1 }, undefined],
    [{ id: 1.5 }, undefined],
    [{ id: '7/../8' }, undefined],
    [{ id: 2 ** 53 }, undefined],
    [undefined, undefined],
  ])('with the id of %j are a comment', (comment, id) => {
    expect(commentId(comment)).toBe(id);
    expect(commentsIn([comment])).toEqual(id === undefined ? [] : [{ id, body: '' }]);
  });
});
