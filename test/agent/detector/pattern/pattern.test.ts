/** The expected results are those of Go: `go/main.go` writes them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../../src/agent/detector/pattern/pattern.ts';
import { PatternError } from '../../../../src/agent/detector/pattern/tree.ts';

interface GoResult {
  readonly pattern: string;
  readonly error?: string;
  readonly found?: readonly (readonly number[])[];
}

const FOLDER = 'test/agent/detector/pattern/go';
const texts = readJson('texts.json') as readonly string[];
const { listed, random } = readJson('expected.golden.json') as {
  readonly listed: readonly GoResult[];
  readonly random: readonly (GoResult & { readonly texts: readonly string[] })[];
};

describe('pattern', () => {
  it.each(listed.map((result) => [result.pattern, result] as const))(
    'accepts, refuses and finds as Go does: %j',
    (_, result) => {
      expect(resultHere(result.pattern, texts)).toEqual(expectedOf(result));
    },
  );

  it('agrees with Go on patterns and texts at random', () => {
    expect(random.length).toBe(1500);
    expect(random.map((result) => resultHere(result.pattern, result.texts))).toEqual(random.map(expectedOf));
  });

  it('has a result of Go for each listed pattern', () => {
    expect(listed.map(({ pattern }) => pattern)).toEqual(readJson('patterns.json'));
    expect(listed.filter(({ error }) => error !== undefined).length).toBeGreaterThan(100);
  });

  it('says what is wrong, with that part of the pattern', () => {
    expect(() => compilePattern('kernel (?=x)')).toThrow('invalid or unsupported Perl syntax: `(?=`');
    expect(() => compilePattern('a++b')).toThrow('invalid nested repetition operator: `++`');
    expect(() => compilePattern('x[b-a]')).toThrow('invalid character class range: `b-a`');
  });

  it.each([['(a+)+$'], ['^(a|a)*$'], ['(a|aa)+$'], ['(.*)*x$']])(
    'takes time in proportion to the text, where a backtracking matcher takes ages: %s',
    (pattern) => {
      const text = `${'a'.repeat(2000)}!`;
      expect(compilePattern(pattern).search(text)).toBe('NoMatch');
    },
  );

  it('gives up at its limit of steps, which the same pattern and text reach on each machine', () => {
    const text = 'ab'.repeat(500);
    expect(compilePattern('(a|b)*c', 400).search(`${text}c`)).toBe('TooLong');
    expect(compilePattern('(a|b)*c').search(`${text}c`)).toEqual([0, 1001, 999, 1000]);
  });

  it('refuses a pattern that would need too many instructions', () => {
    expect(() => compilePattern('(?:[a-z]{100}){10}'.repeat(11))).toThrow('expression too large');
  });
});

function resultHere(pattern: string, searched: readonly string[]): unknown {
  try {
    const compiled = compilePattern(pattern);
    return searched.map((text) => {
      const found = compiled.search(text);
      return found === 'NoMatch' ? [] : found;
    });
  } catch (error) {
    if (error instanceof PatternError) return 'refused';
    throw error;
  }
}

function expectedOf({ error, found }: GoResult): unknown {
  return error === undefined ? found : 'refused';
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'));
}
