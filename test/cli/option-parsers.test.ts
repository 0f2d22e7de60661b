import { describe, expect, it } from 'vitest';
import { createIntegerParser, parseIpAddress } from '../../src/cli/option-parsers.ts';

describe('createIntegerParser', () => {
  const parse = createIntegerParser(0, 65_535);

  it.each([
    ['0', 0],
    ['8080', 8080],
    ['65535', 65_535],
  ])('accepts %s', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  it.each(['', 'x', '-1', '1.5', '1e3', '65536', ' 1'])('refuses %j', (text) => {
    expect(() => parse(text)).toThrow(`Expected an integer from 0 to 65535, got ${JSON.stringify(text)}.`);
  });
});

describe('parseIpAddress', () => {
  it.each(['127.0.0.1', '::1'])('accepts %s', (text) => {
    expect(parseIpAddress(text)).toBe(text);
  });

  it('refuses a host name', () => {
    expect(() => parseIpAddress('localhost')).toThrow('Expected an IP address, got "localhost".');
  });
});
