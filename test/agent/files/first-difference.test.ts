import { describe, expect, it } from 'vitest';
import { firstDifference } from '../../../src/agent/files/first-difference.ts';

describe('firstDifference', () => {
  it.each([
    ['a value', 'a: 1\nmaxPods: 5\n', 'a: 1\nmaxPods: 6\n', 'line 2 (maxPods)'],
    ['JSON', '{\n  "maxPods": 5\n}', '{\n  "maxPods": 6\n}', 'line 2 (maxPods)'],
    ['an INI file', '[a]\nmax-pods = 5', '[a]\nmax-pods = 6', 'line 2 (max-pods)'],
    ['a line that was removed', 'a=1\nb=2\n', 'a=1\n', 'line 2 (b)'],
    ['a line that was added', 'a=1', 'a=1\nb=2', 'line 2 (b)'],
    ['no end of the last line', 'a=1\n', 'a=1', 'line 2'],
    ['an empty file', 'token: x', '', 'line 1 (token)'],
    ['a line of base64, which may be a secret', 'c2VjcmV0MQ==', 'c2VjcmV0Mg==', 'line 1'],
    ['another one', 'c2VjcmV0MTI=', 'c2VjcmV0MjE=', 'line 1'],
    ['text without keys', 'hello world', 'hello', 'line 1'],
  ])('AGT-30 names the line and its key, and no value: %s', (_what, expected, found, text) => {
    expect(firstDifference(expected, found)).toBe(text);
  });
});
