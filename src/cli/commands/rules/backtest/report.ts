/** Reports what a backtest found, as data and as text. Pure. */
import { formatAge } from '../../../../views/text/age.ts';
import { formatCount, formatShare } from '../../../../views/text/counts.ts';
import { fitTable } from '../../../../views/text/wrap.ts';
import type { FaultCase, MachineTally, Peak, Tally } from './tally.ts';

/** A period without a recorder. */
export interface RecordingGap {
  readonly from: string;
  readonly to: string;
}

export interface RecordedPeriod {
  readonly cluster: string;
  readonly from: string;
  readonly to: string;
  readonly lines: number;
  readonly gaps: readonly RecordingGap[];
}

export interface BacktestCounts {
  /** The number of Nodes that were recorded. */
  readonly observed: number;
  /** The number of machines that the rule is for. */
  readonly targets: number;
  readonly matched: number;
  /** The number of machines for which the Defender would have been asked. */
  readonly touched: number;
  readonly indeterminate: number;
}

export interface BacktestReport {
  readonly rule: string;
  readonly recorded: RecordedPeriod;
  readonly nodes: BacktestCounts;
  readonly peak: Peak;
  /** The machines that matched or were indeterminate. */
  readonly machines: readonly MachineTally[];
  readonly compared?: Comparison;
}

/** The comparison with the rule of another commit. */
export interface Comparison {
  readonly revision: string;
  readonly onlyNow: readonly string[];
  readonly onlyBefore: readonly string[];
}

export interface BacktestInput {
  readonly rule: string;
  readonly recorded: RecordedPeriod;
  readonly observed: number;
  readonly tally: Pick<Tally, 'machines' | 'peak'>;
}

export function createReport({ rule, recorded, observed, tally }: BacktestInput): BacktestReport {
  const all = tally.machines();
  const count = (has: (machine: MachineTally) => boolean): number => all.filter(has).length;
  return {
    rule,
    recorded,
    nodes: {
      observed,
      targets: all.length,
      matched: count(({ cases }) => cases.length > 0),
      touched: count(isTouched),
      indeterminate: count(({ indeterminate }) => indeterminate.length > 0),
    },
    peak: tally.peak(),
    machines: all.filter(({ cases, indeterminate }) => cases.length > 0 || indeterminate.length > 0),
  };
}

export function isTouched({ cases }: MachineTally): boolean {
  return cases.some(({ asks }) => asks.length > 0);
}

export function withComparison(
  report: BacktestReport,
  before: BacktestReport,
  revision: string,
): BacktestReport {
  const [now, then] = [report, before].map(({ machines }) =>
    machines.filter(isTouched).map(({ machine }) => machine),
  );
  return { ...report, compared: { revision, onlyNow: without(now, then), onlyBefore: without(then, now) } };
}

function without(names: readonly string[] = [], others: readonly string[] = []): readonly string[] {
  const all = new Set(others);
  return names.filter((name) => !all.has(name));
}

export function formatReport(report: BacktestReport, columns: number): string {
  const rows = report.machines.flatMap(({ machine, cases, moreCases }) => [
    ...cases.map((each) => caseRow(machine, each)),
    ...(moreCases > 0 ? [[machine, '', '', '', `and ${moreCases} more`]] : []),
  ]);
  const unknown = report.machines.flatMap(({ machine, indeterminate }) =>
    indeterminate.map(({ because, times, seconds }) => [machine, `${times}`, durationText(seconds), because]),
  );
  return [
    fitTable(
      {
        columns: ['node', 'matched at', 'for', 'asks for', 'why'],
        rows,
        empty: `rule ${report.rule} matched no node`,
      },
      columns,
    ),
    unknown.length > 0
      ? `\n${fitTable({ columns: ['indeterminate', 'times', 'for', 'why'], rows: unknown }, columns)}`
      : '',
    `\n${summaryLines(report).join('\n')}\n`,
  ].join('');
}

function caseRow(
  machine: string,
  { from, to, matchedSeconds, asks, waits, because }: FaultCase,
): readonly string[] {
  const actions = asks.map(({ action }) => action).join(', ');
  const why = [because, ...waits.map((wait) => `waits: ${wait}`)].join('; ');
  const duration = `${durationText(matchedSeconds)}${to === undefined ? '+' : ''}`;
  return [machine, shortTime(from), duration, actions || 'nothing', why];
}

function summaryLines({ rule, recorded, nodes, peak, compared }: BacktestReport): readonly string[] {
  const { cluster, from, to, lines, gaps } = recorded;
  const length = durationText((Date.parse(to) - Date.parse(from)) / 1000);
  const missed = gaps.reduce((sum, gap) => sum + Date.parse(gap.to) - Date.parse(gap.from), 0) / 1000;
  return [
    `recorded: cluster ${cluster}, ${shortTime(from)} to ${shortTime(to)} (${length}), ${formatCount(lines, 'line')}`,
    ...(gaps.length > 0 ? [`not recorded: ${formatCount(gaps.length, 'gap')}, ${durationText(missed)}`] : []),
    `rule ${rule} would have touched ${formatShare(nodes.touched, nodes.targets, 'node')} that it is for (${nodes.observed} recorded)`,
    `it matched ${formatCount(nodes.matched, 'node')}, at most ${peak.machines} at the same time; it was indeterminate on ${nodes.indeterminate}`,
    ...(compared ? comparisonLines(compared) : []),
  ];
}

function comparisonLines({ revision, onlyNow, onlyBefore }: Comparison): readonly string[] {
  return [
    `touched now, and not by the rule of ${revision}: ${namesText(onlyNow)}`,
    `touched by the rule of ${revision}, and not now: ${namesText(onlyBefore)}`,
  ];
}

const MAX_NAMES = 20;

function namesText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
  return names.length > 0 ? [...names.slice(0, MAX_NAMES), ...more].join(', ') : 'none';
}

/** Formats a duration as ages are printed. */
function durationText(seconds: number): string {
  return formatAge(new Date(0).toISOString(), new Date(seconds * 1000));
}

function shortTime(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

/** Returns the gap between the last line of one process and the first of the next one. */
export function gapBetween(fromMs: number | undefined, toMs: number): readonly RecordingGap[] {
  if (fromMs === undefined || fromMs >= toMs) return [];
  return [{ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }];
}
