import { expect, it } from 'vitest';
import { rememberByText } from '../../src/os/memo.ts';

it('what a function returned for a text is remembered, also undefined, for as many texts as asked for', () => {
  const computed: string[] = [];
  const lengthOf = rememberByText(2, (text) => {
    computed.push(text);
    return text === '' ? undefined : text.length;
  });
  expect(['a', '', 'a', ''].map(lengthOf)).toEqual([1, undefined, 1, undefined]);
  expect(computed).toEqual(['a', '']);
  // The text that was asked for longest ago gives way.
  expect(['a', 'bbb', 'a', ''].map(lengthOf)).toEqual([1, 3, 1, undefined]);
  expect(computed).toEqual(['a', '', 'bbb', '']);
});

it('what a function throws is not remembered', () => {
  let isBroken = true;
  const parse = rememberByText(2, (text) => {
    if (isBroken) throw new Error('broken');
    return text;
  });
  expect(() => parse('a')).toThrow('broken');
  isBroken = false;
  expect(parse('a')).toBe('a');
});
