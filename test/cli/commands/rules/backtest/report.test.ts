import { describe, expect, it } from 'vitest';
import {
  createReport,
  formatReport,
  gapBetween,
  withComparison,
} from '../../../../../src/cli/commands/rules/backtest/report.ts';
import type { FaultCase, MachineTally } from '../../../../../src/cli/commands/rules/backtest/tally.ts';

const CASE: FaultCase = {
  from: '2030-01-01T12:03:00.001Z',
  to: '2030-01-01T12:13:00.000Z',
  matchedSeconds: 600,
  heldSeconds: 0,
  because: 'condition Ready status is "False"',
  asks: [{ action: 'Reboot', risk: 'Node', at: '2030-01-01T12:03:00.001Z' }],
  waits: [],
};
const HELD: FaultCase = { ...CASE, asks: [], waits: ['HumanHold: the machine is held: firmware'] };
const { to: _to, ...OPEN } = CASE;

function tallyOf(machine: string, parts: Partial<MachineTally> = {}): MachineTally {
  return { machine, cases: [], moreCases: 0, indeterminate: [], ...parts };
}

const MACHINES = [
  tallyOf('m-1', { cases: [CASE, OPEN], moreCases: 3 }),
  tallyOf('m-2', { cases: [HELD] }),
  tallyOf('m-3', { indeterminate: [{ because: 'the agent is silent', times: 2, seconds: 300 }] }),
  tallyOf('m-4'),
];

const RECORDED = {
  cluster: 'https://prod',
  from: '2030-01-01T12:00:00.000Z',
  to: '2030-01-08T12:00:00.000Z',
  lines: 1234,
  gaps: gapBetween(Date.UTC(2030, 0, 2), Date.UTC(2030, 0, 2, 3)),
};

function reportOf(machines: readonly MachineTally[]): ReturnType<typeof createReport> {
  const peak = { machines: 2, at: '2030-01-01T12:03:00.001Z' };
  return createReport({
    rule: 'kernel-hang',
    recorded: RECORDED,
    observed: 5,
    tally: { machines: () => machines, peak: () => peak },
  });
}

describe('createReport', () => {
  it('counts nodes, not faults, and leaves out those where nothing happened', () => {
    const { nodes, machines } = reportOf(MACHINES);
    expect(nodes).toEqual({ observed: 5, targets: 4, matched: 2, touched: 1, indeterminate: 1 });
    expect(machines.map(({ machine }) => machine)).toEqual(['m-1', 'm-2', 'm-3']);
  });
});

describe('formatReport', () => {
  it('has one row for each fault, one for each reason of an unknown fact, and a summary', () => {
    expect(formatReport(reportOf(MACHINES), 160).split('\n')).toEqual([
      'NODE   MATCHED AT             FOR    ASKS FOR   WHY',
      'm-1    2030-01-01T12:03:00Z   10m    Reboot     condition Ready status is "False"',
      'm-1    2030-01-01T12:03:00Z   10m+   Reboot     condition Ready status is "False"',
      'm-1                                             and 3 more',
      'm-2    2030-01-01T12:03:00Z   10m    nothing    condition Ready status is "False"; waits: HumanHold: the machine is held: firmware',
      '',
      'INDETERMINATE   TIMES   FOR   WHY',
      'm-3             2       5m    the agent is silent',
      '',
      'recorded: cluster https://prod, 2030-01-01T12:00:00Z to 2030-01-08T12:00:00Z (7d), 1234 lines',
      'not recorded: 1 gap, 3h',
      'rule kernel-hang would have touched 1 of 4 nodes that it is for (5 recorded)',
      'it matched 2 nodes, at most 2 at the same time; it was indeterminate on 1',
      '',
    ]);
  });

  it('has no table when nothing matched', () => {
    expect(formatReport(reportOf([]), 80)).toMatch(/^rule kernel-hang matched no node\n\nrecorded: /);
  });

  it('lists the nodes that the rule of another commit treats differently', () => {
    const before = reportOf([tallyOf('m-2', { cases: [CASE] }), tallyOf('m-1')]);
    const compared = withComparison(reportOf(MACHINES), before, 'origin/main');
    expect(compared.compared).toEqual({ revision: 'origin/main', onlyNow: ['m-1'], onlyBefore: ['m-2'] });
    expect(formatReport(compared, 160)).toContain(
      'touched now, and not by the rule of origin/main: m-1\ntouched by the rule of origin/main, and not now: m-2\n',
    );
    const same = withComparison(reportOf(MACHINES), reportOf(MACHINES), 'HEAD');
    expect(formatReport(same, 160)).toContain('touched now, and not by the rule of HEAD: none\n');
  });
});

describe('gapBetween', () => {
  it.each([
    ['the first process', undefined, 5, 0],
    ['one that begins at once', 5, 5, 0],
    ['one that begins later', 4, 5, 1],
  ])('finds for %s the time without a recorder', (_, from, to, gaps) => {
    expect(gapBetween(from, to).length).toBe(gaps);
  });
});
