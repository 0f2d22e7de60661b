/** The table of test/README.md: what each test file takes, and of what. */
import type { FileResult } from './results.ts';

export interface TimedRun {
  readonly command: string;
  /** The time from the start of the run to its end. */
  readonly seconds: number;
  readonly files: readonly FileResult[];
}

/** Shorter files are summed up in one row. */
const LEAST_SECONDS = 5;
const HEAD = [
  '| file | tests | seconds | CPU of the test | CPU of its programs | waited at least |',
  '|---|--:|--:|--:|--:|--:|',
];

export function formatTimes(runs: readonly TimedRun[]): string {
  return runs.map(formatRun).join('\n');
}

function formatRun({ command, seconds, files }: TimedRun): string {
  const sorted = files.toSorted(
    (one, other) => other.seconds - one.seconds || (one.file < other.file ? -1 : 1),
  );
  const long = sorted.filter((file) => file.seconds >= LEAST_SECONDS);
  const short = sorted.filter((file) => file.seconds < LEAST_SECONDS);
  const title = `### \`${command}\`: ${Math.round(seconds)} s`;
  return [title, '', ...HEAD, ...long.map(fileRow), othersRow(short), sumRow(files), ''].join('\n');
}

function fileRow({ file, ...result }: FileResult): string {
  const name = file.replace(/^test\//, '').replace(/\.test\.ts$/, '');
  return row(name, costOf(result));
}

function othersRow(files: readonly FileResult[]): string {
  return row(`${files.length} files of less than ${LEAST_SECONDS} s`, total(files));
}

function sumRow(files: readonly FileResult[]): string {
  return row(`**all ${files.length} files**`, total(files));
}

interface RowCost {
  readonly tests: number;
  readonly seconds: number;
  readonly worker: number;
  readonly programs: number;
  readonly waited: number;
}

function costOf({ passed, failed, seconds, cost }: Omit<FileResult, 'file'>): RowCost {
  const { workerSeconds: worker = 0, programSeconds: programs = 0 } = cost ?? {};
  return {
    tests: passed + failed,
    seconds,
    worker,
    programs,
    waited: Math.max(0, seconds - worker - programs),
  };
}

function total(files: readonly FileResult[]): RowCost {
  const none = { tests: 0, seconds: 0, worker: 0, programs: 0, waited: 0 };
  return files.map(costOf).reduce<RowCost>(
    (sum, each) => ({
      tests: sum.tests + each.tests,
      seconds: sum.seconds + each.seconds,
      worker: sum.worker + each.worker,
      programs: sum.programs + each.programs,
      waited: sum.waited + each.waited,
    }),
    none,
  );
}

function row(name: string, { tests, ...seconds }: RowCost): string {
  const { seconds: all, worker, programs, waited } = seconds;
  const cells = [all, worker, programs, waited].map((each) => String(Math.round(each)));
  return `| ${[name, String(tests), ...cells].join(' | ')} |`;
}
