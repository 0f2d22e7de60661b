import { describe, expect, it } from 'vitest';
import { parseSelectorText } from '../../../../src/controllers/following/nodegroup/selector-text.ts';

describe('the text of a label selector', () => {
  it.each<[string, readonly object[]]>([
    ['pool', [{ key: 'pool', operator: 'Exists' }]],
    ['! pool', [{ key: 'pool', operator: 'DoesNotExist' }]],
    ['a.b/pool=gpu', [{ key: 'a.b/pool', operator: 'In', values: ['gpu'] }]],
    ['pool == gpu', [{ key: 'pool', operator: 'In', values: ['gpu'] }]],
    ['pool=', [{ key: 'pool', operator: 'In', values: [''] }]],
    ['pool!=gpu', [{ key: 'pool', operator: 'NotIn', values: ['gpu'] }]],
    [
      'zone in (a, b),pool notin (c),!spot',
      [
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
        { key: 'pool', operator: 'NotIn', values: ['c'] },
        { key: 'spot', operator: 'DoesNotExist' },
      ],
    ],
  ])('has the requirements that kubectl reads: %s', (text, matchExpressions) => {
    expect(parseSelectorText(text)).toEqual({ all: false, matchExpressions });
  });

  it.each([
    '',
    ',',
    'a,',
    'a b',
    'a=b=c',
    'a in b',
    'a in (b',
    '-a',
    'a=-b',
    'A.b/c',
    `${'k'.repeat(64)}=v`,
    'a>1',
  ])('is refused without a valid requirement: "%s"', (text) => {
    expect(parseSelectorText(text)).toBeUndefined();
  });
});
