import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeJson, unmergeJson } from '../../../src/agent/files/merge-json.ts';
import { runs } from '../../support/sweep-size.ts';

const OURS = '{"log-driver":"json-file","log-opts":{"max-size":"10m"}}';

function parsed(text: string): unknown {
  return JSON.parse(text) as unknown;
}

describe('keys in a JSON file of others', () => {
  it.each([
    ['an empty file', '', { 'log-driver': 'json-file', 'log-opts': { 'max-size': '10m' } }],
    [
      'a file of others',
      '{"debug":true,"log-opts":{"tag":"x"}}',
      { debug: true, 'log-opts': { tag: 'x', 'max-size': '10m' }, 'log-driver': 'json-file' },
    ],
    [
      'another value',
      '{"log-driver":"syslog"}',
      { 'log-driver': 'json-file', 'log-opts': { 'max-size': '10m' } },
    ],
    ['a damaged file', '{"log-driver"', { 'log-driver': 'json-file', 'log-opts': { 'max-size': '10m' } }],
  ])('merges into %s', (_name, found, merged) => {
    expect(parsed(mergeJson(OURS, found))).toEqual(merged);
  });

  it('keeps the formatting of others while the values are right', () => {
    const found = '{ "log-opts": {"max-size": "10m"},\n "log-driver":"json-file" }';
    expect(mergeJson(OURS, found)).toBe(found);
  });

  it('writes content that is not an object unchanged', () => {
    expect(mergeJson('[1]', '{"a":1}')).toBe('[1]');
  });

  it('restores values and removes keys, and keeps what others changed since', () => {
    const original = '{"log-driver":"syslog"}';
    const found = '{"log-driver":"json-file","log-opts":{"max-size":"10m","tag":"x"},"debug":true}';
    expect(parsed(unmergeJson(OURS, found, original))).toEqual({
      'log-driver': 'syslog',
      'log-opts': { tag: 'x' },
      debug: true,
    });
  });

  it('merges and takes out again: the file is as it was', () => {
    const value = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer())),
    );
    fc.assert(
      fc.property(value, value, (ours, theirs) => {
        const [content, original] = [JSON.stringify(ours), JSON.stringify(theirs)];
        const merged = mergeJson(content, original);
        expect(mergeJson(content, merged)).toBe(merged);
        expect(parsed(unmergeJson(content, merged, original))).toEqual(theirs);
      }),
      runs(200, 10_000),
    );
  });
});
