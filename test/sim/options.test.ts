import { describe, expect, it } from 'vitest';
import { readOptions } from '../../src/sim/options.ts';

describe('readOptions', () => {
  it('runs ten seeds of a week with 1,000 machines by default', () => {
    expect(readOptions([])).toEqual({
      help: false,
      json: false,
      seeds: 10,
      seed: 1,
      days: 7,
      machines: 1000,
    });
  });

  it('takes a guard out by its id', () => {
    expect(readOptions(['--without', 'rates', '-o', 'json'])).toMatchObject({
      json: true,
      without: new Set(['rates']),
    });
  });

  it.each([
    [['--seeds', '0'], 'expected --seeds to be a positive integer'],
    [['--days', 'x'], 'expected --days to be a positive integer'],
    [['-o', 'yaml'], "expected -o text or json, got 'yaml'"],
    [['--without', 'luck'], "unknown guard 'luck'"],
    [['--wrong'], "Unknown option '--wrong'"],
  ])('refuses %o', (args, problem) => {
    expect(readOptions(args)).toContain(problem);
  });
});
