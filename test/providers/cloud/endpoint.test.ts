import { describe, expect, it } from 'vitest';
import { readEndpoint } from '../../../src/providers/cloud/endpoint.ts';

const OTHERWISE = 'https://login.example.com';

describe('readEndpoint', () => {
  it.each([
    [undefined, OTHERWISE],
    ['', OTHERWISE],
    ['https://login.example.us/', 'https://login.example.us'],
    ['http://127.0.0.1:8080/path?x', 'http://127.0.0.1:8080'],
  ])('reads %j', (text, expected) => {
    expect(readEndpoint({ HOST: text }, 'HOST', OTHERWISE)).toBe(expected);
  });

  it.each(['login.example.us', '..', 'ftp://login.example.us', 'localhost:8080', ' '])(
    'refuses %j, and names the variable and the form',
    (text) => {
      expect(() => readEndpoint({ HOST: text }, 'HOST', OTHERWISE)).toThrow(
        `expected a URL in HOST, such as ${OTHERWISE}, got ${JSON.stringify(text)}`,
      );
    },
  );

  it.each([
    ['a password', 'ann:secret@login.example.us'],
    ['one with an @', 'ann:sec@ret@login.example.us'],
    ['one that is longer than what is quoted', `ann:${'secret'.repeat(40)}@login.example.us`],
    ['one with a line break', 'ann:sec\nret@login.example.us'],
    ['one of a URL with another scheme', 'ftp://ann:secret@login.example.us'],
  ])('does not quote %s', (_, text) => {
    expect(() => readEndpoint({ HOST: text }, 'HOST', OTHERWISE)).toThrow(
      `expected a URL in HOST, such as ${OTHERWISE}, got "…@login.example.us"`,
    );
  });
});
