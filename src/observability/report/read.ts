/** Asks Prometheus for the answers of a report. Each request is limited in time and size, and all of them together in time. */
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import type { Clock } from '../../os/clock.ts';
import { secondsAfter } from '../../os/dates.ts';
import type { HttpAnswer } from '../../os/net/http-get.ts';
import { answerInTime } from '../../os/net/timed-answer.ts';
import { BUILD_INFO } from '../metrics/process.ts';
import { METRIC_PREFIX } from '../metrics/table.ts';
import { type HttpGet, QUERIES_AT_ONCE } from '../query/client.ts';
import { type Answered, MAX_ANSWER_BYTES, readMetricNames, readReportSamples } from './answer.ts';
import { gapsIn } from './gaps.ts';
import type { ColumnAnswer, ReportAnswers } from './report.ts';
import type { ReportSectionPlan } from './sections.ts';

export interface ReportSource {
  readonly prometheusUrl: string;
  readonly get: HttpGet;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly totalMs?: number;
}

// The queries of a month over 20,000 series take a few seconds.
const TIMEOUT_MS = 30_000;
const TOTAL_MS = 180_000;
/** Rejects only if Prometheus does not answer at all. */
export async function askPrometheus(
  source: ReportSource,
  plans: readonly ReportSectionPlan[],
  seconds: number,
): Promise<ReportAnswers> {
  const to = source.clock.now();
  const period = { from: secondsAfter(to, -seconds), to, seconds };
  const ask = createAsk(source);
  const names = await ask(namesPath(plans, period), readMetricNames);
  if ('problem' in names && names.noAnswer) throw new Error(names.problem);
  const scraped = await ask(queryPath(presenceQuery(seconds), to), readReportSamples);
  const known = 'found' in names ? new Set(names.found) : undefined;
  const asked = plans.flatMap(({ id, columns }) =>
    columns
      .filter(({ needs }) => !known || needs.every((name) => known.has(name)))
      .map((column) => ({ section: id, column })),
  );
  const columns = await runConcurrently(
    asked,
    async (each): Promise<ColumnAnswer> => ({
      ...each,
      answer: await ask(queryPath(each.column.query, to), readReportSamples),
    }),
    QUERIES_AT_ONCE,
  );
  const missing = [
    ...('problem' in names ? [`the names of the metrics: ${names.problem}`] : []),
    ...gapsIn(scraped, expectedSteps(seconds)),
  ];
  return { ...period, ...(known && { names: known }), columns, missing };
}

interface Period {
  readonly from: Date;
  readonly to: Date;
}

function namesPath(plans: readonly ReportSectionPlan[], { from, to }: Period): string {
  const needs = new Set(plans.flatMap(({ columns }) => columns.flatMap((column) => column.needs)));
  const query = new URLSearchParams({
    'match[]': `{__name__=~"${[...needs].join('|')}"}`,
    start: String(+from / 1000),
    end: String(+to / 1000),
  });
  return `/api/v1/label/__name__/values?${query.toString()}`;
}

/** All at the same moment, so that the figures belong together. */
function queryPath(query: string, at: Date): string {
  const asked = new URLSearchParams({ query, time: String(+at / 1000) });
  return `/api/v1/query?${asked.toString()}`;
}

const STEPS = 100;

function stepSeconds(seconds: number): number {
  return Math.max(60, Math.ceil(seconds / STEPS));
}

/** Counts in how many steps of the period each process was scraped. */
function presenceQuery(seconds: number): string {
  const { name } = BUILD_INFO;
  return `count_over_time((max by (process) (${METRIC_PREFIX}${name}))[${seconds}s:${stepSeconds(seconds)}s])`;
}

function expectedSteps(seconds: number): number {
  return Math.max(1, Math.floor(seconds / stepSeconds(seconds)));
}

type Ask = <T>(
  path: string,
  read: (answer: HttpAnswer) => Answered<T>,
) => Promise<Answered<T> & { readonly noAnswer?: true }>;

function createAsk(source: ReportSource): Ask {
  const { get, clock, signal, timeoutMs = TIMEOUT_MS, totalMs = TOTAL_MS } = source;
  const base = source.prometheusUrl.replace(/\/$/, '');
  const endMs = clock.monotonicMs() + totalMs;
  return async (path, read) => {
    const leftMs = Math.min(timeoutMs, endMs - clock.monotonicMs());
    if (leftMs <= 0) return { problem: `not asked: the report took longer than ${totalMs / 1000} s` };
    const found = await answerInTime({ clock, timeoutMs: leftMs }, (end) =>
      get(`${base}${path}`, AbortSignal.any([end, signal]), MAX_ANSWER_BYTES),
    );
    signal.throwIfAborted();
    return 'problem' in found ? { ...found, noAnswer: true } : read(found.answer);
  };
}
