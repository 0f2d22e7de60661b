import { describe, expect, it } from 'vitest';
import { parsePattern } from '../../../../src/agent/detector/pattern/parse.ts';

const a = { type: 'Chars', set: [[97, 97]] };
const b = { type: 'Chars', set: [[98, 98]] };

describe('parse', () => {
  it('repeats the last thing only', () => {
    const repeat = { type: 'Repeat', body: b, min: 0, max: Infinity, greedy: true };
    expect(parsePattern('ab*').root).toEqual({ type: 'Concat', parts: [a, repeat] });
  });

  it('keeps flags inside of their group', () => {
    const both = {
      type: 'Chars',
      set: [
        [65, 65],
        [97, 97],
      ],
    };
    expect(parsePattern('(?:(?i)a)a').root).toEqual({ type: 'Concat', parts: [both, a] });
    expect(parsePattern('(?i:a)|a').root).toEqual({ type: 'Alternate', choices: [both, a] });
  });

  it('counts groups that capture', () => {
    expect(parsePattern('(a)(?:b)(?P<name>a(b))').groups).toBe(3);
  });

  it('refuses a depth that could exhaust the stack', () => {
    expect(() => parsePattern(`${'('.repeat(1001)}${')'.repeat(1001)}`)).toThrow(
      'expression nests too deeply',
    );
    expect(parsePattern(`${'('.repeat(999)}${')'.repeat(999)}`).groups).toBe(999);
  });
});
