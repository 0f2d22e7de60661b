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
      rollouts: false,
      repairs: false,
      sets: false,
      fleet: false,
      clusters: 20,
      hours: 2,
    });
  });

  it('runs two hours of rollouts on eight machines with --rollouts', () => {
    expect(readOptions(['--rollouts'])).toMatchObject({ rollouts: true, hours: 2, machines: 8 });
    expect(readOptions(['--rollouts', '--machines', '20', '--hours', '5'])).toMatchObject({
      hours: 5,
      machines: 20,
    });
  });

  it('runs repairs beside rollouts with --repairs, and breaks one part of them', () => {
    expect(readOptions(['--repairs', '--break', 'GrantKept'])).toMatchObject({
      rollouts: true,
      repairs: true,
      broken: 'GrantKept',
      machines: 8,
    });
  });

  it('keeps the machines of a set with --sets, and breaks one part of it', () => {
    expect(readOptions(['--sets', '--break', 'HoldIgnored'])).toMatchObject({
      rollouts: false,
      sets: true,
      brokenSet: 'HoldIgnored',
      machines: 12,
    });
  });

  it('runs a day of clusters under one hub with --fleet, and takes a guard out', () => {
    expect(readOptions(['--fleet', '--clusters', '5', '--without', 'fleet-limits'])).toMatchObject({
      fleet: true,
      clusters: 5,
      hours: 24,
      without: new Set(['fleet-limits']),
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
    [['--rollouts', '--hours', '0'], 'expected --hours to be a positive integer'],
    [['--fleet', '--sets'], 'expected only one of --sets, --fleet and --rollouts or --repairs'],
    [['--rollouts', '--without', 'rates'], 'expected --without only without --rollouts'],
    [['--sets', '--without', 'rates'], 'expected --without only without --rollouts'],
    [['--rollouts', '--break', 'GrantKept'], 'expected --break only with --repairs or --sets'],
    [['--sets', '--repairs'], 'expected only one of --sets, --fleet and --rollouts or --repairs'],
    [['--sets', '--break', 'GrantKept'], "unknown breakage 'GrantKept'"],
    [['--repairs', '--break', 'luck'], "unknown breakage 'luck'"],
    [['--wrong'], "Unknown option '--wrong'"],
  ])('refuses %o', (args, problem) => {
    expect(readOptions(args)).toContain(problem);
  });
});
