import { describe, expect, it } from 'vitest';
import { goQuote } from '../../../../src/agent/detector/match/go-quote.ts';

describe('go quote', () => {
  it.each([
    ['a "b" \\c', '"a \\"b\\" \\\\c"'],
    ['a\tb\nc\r\v\f\b\u0007', '"a\\tb\\nc\\r\\v\\f\\b\\a"'],
    ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
    ['\u0085\u00a0\u200b\ufeff', '"\\u0085\\u00a0\\u200b\\ufeff"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['é 日本 😀 <&>', '"é 日本 😀 <&>"'],
  ])('quotes %j as Go does', (text, expected) => {
    expect(goQuote(text)).toBe(expected);
  });
});
