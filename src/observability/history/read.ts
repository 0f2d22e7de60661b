/** Asks Prometheus for lines of the past: one query for each line, limited in time. After a while, no more queries begin. */
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import type { Clock } from '../../os/clock.ts';
import { type PrometheusRanges, QUERIES_AT_ONCE, type QueryRange } from '../query/client.ts';
import { type MatrixLine, readLine } from '../query/matrix.ts';
import { type PastField, pastMetric, pastQuery } from './lines.ts';

export interface PastRequest {
  readonly fields: readonly PastField[];
  readonly range: QueryRange;
  /** The cluster whose series are read. Undefined: all that Prometheus has. */
  readonly cluster?: string | undefined;
}

export interface FoundLines {
  /** A line of values for each field that Prometheus has something of; null: nothing at that time. */
  readonly lines: Readonly<Partial<Record<PastField, readonly (number | null)[]>>>;
  /** The fields that are missing, or known in part, and why. */
  readonly missing: readonly { readonly field: PastField; readonly because: string }[];
}

/** A person waits for the page. Queries that began before end within their own limit. */
const TOTAL_MS = 8000;
const TOO_SLOW = `not asked: Prometheus took longer than ${TOTAL_MS / 1000} s for the lines before`;

interface AskedLine {
  readonly field: PastField;
  readonly read: MatrixLine;
}

/** Never rejects. */
export async function readPastLines(
  { prometheus, clock }: { readonly prometheus: PrometheusRanges; readonly clock: Clock },
  { fields, range, cluster }: PastRequest,
): Promise<FoundLines> {
  const endMs = clock.monotonicMs() + TOTAL_MS;
  const ask = async (field: PastField): Promise<AskedLine> => {
    if (clock.monotonicMs() >= endMs) return { field, read: { problem: TOO_SLOW } };
    const answer = await prometheus.queryRange(pastQuery(field, range.step, cluster), range);
    return { field, read: 'problem' in answer ? answer : readLine(answer.body, range) };
  };
  const answers = await runConcurrently(fields, ask, QUERIES_AT_ONCE);
  const lines: { -readonly [Field in PastField]?: readonly (number | null)[] } = {};
  const missing: FoundLines['missing'][number][] = [];
  for (const { field, read } of answers) {
    if ('problem' in read) missing.push({ field, because: read.problem });
    else if (read.values.every((value) => value === null)) missing.push({ field, because: absent(field) });
    else lines[field] = read.values;
    if ('partial' in read) missing.push({ field, because: `only a part of the data: ${read.partial}` });
  }
  return { lines, missing };
}

function absent(field: PastField): string {
  return `Prometheus has no ${pastMetric(field)} in this range`;
}
