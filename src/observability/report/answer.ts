/** Reads answers of the API of Prometheus. What cannot be read is a problem, never an empty answer. Pure. */
import { listAt, valueAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { HttpAnswer } from '../../os/net/http-get.ts';
import { numberIn, type ReadAnswer, readApiAnswer } from '../query/answer.ts';

export interface ReportSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** `partial`: an answer of a part of the data. */
export type Answered<T> =
  | { readonly found: readonly T[]; readonly partial?: string }
  | { readonly problem: string };

/** Prometheus has results of thousands of series in far less. */
export const MAX_ANSWER_BYTES = 1024 ** 2;

const TOO_LARGE = `the answer has more than ${MAX_ANSWER_BYTES} bytes`;

export function readReportSamples(answer: HttpAnswer): Answered<ReportSample> {
  const body = successOf(answer);
  if ('problem' in body) return body;
  if (valueAt(body.data, 'resultType') !== 'vector') return { problem: 'the answer is not a vector' };
  const found = listAt(body.data, 'result').map(sampleOf);
  if (found.some((sample) => sample === undefined)) return { problem: 'a value cannot be read' };
  return { found: found.flatMap((sample) => sample ?? []), ...partialOf(body.warning) };
}

export function readMetricNames(answer: HttpAnswer): Answered<string> {
  const body = successOf(answer);
  if ('problem' in body) return body;
  const names = listAt(body.data).filter((name) => typeof name === 'string');
  return { found: names, ...partialOf(body.warning) };
}

function successOf({ status, body }: HttpAnswer): ReadAnswer {
  if (status !== 200) return { problem: `expected status 200, got ${status}` };
  return body.length >= MAX_ANSWER_BYTES ? { problem: TOO_LARGE } : readApiAnswer(body);
}

function partialOf(warning: string | undefined): { readonly partial?: string } {
  return optional('partial', warning?.slice(0, MAX_WARNING));
}

const MAX_WARNING = 200;

/** Without events a ratio is NaN, which is not a problem: its cell stays empty. */
function sampleOf(sample: unknown): ReportSample | undefined {
  const [, text] = listAt(sample, 'value');
  const metric = valueAt(sample, 'metric');
  const number = numberIn(text);
  if (number === undefined || typeof metric !== 'object' || metric === null) return undefined;
  const labels = Object.fromEntries(Object.entries(metric).map(([name, value]) => [name, String(value)]));
  return { labels, value: number };
}
