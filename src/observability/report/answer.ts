/** Reads answers of the API of Prometheus. What cannot be read is a problem, never an empty answer. Pure. */
import { listAt, valueAt } from '../../kube/objects/json.ts';
import type { HttpAnswer } from '../../os/net/http-get.ts';

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
  if (valueAt(body.json, 'data', 'resultType') !== 'vector') return { problem: 'the answer is not a vector' };
  const found = listAt(body.json, 'data', 'result').map(sampleOf);
  if (found.some((sample) => sample === undefined)) return { problem: 'a value cannot be read' };
  return { found: found.flatMap((sample) => sample ?? []), ...partialOf(body.json) };
}

export function readMetricNames(answer: HttpAnswer): Answered<string> {
  const body = successOf(answer);
  if ('problem' in body) return body;
  const names = listAt(body.json, 'data').filter((name) => typeof name === 'string');
  return { found: names, ...partialOf(body.json) };
}

function successOf({ status, body }: HttpAnswer): { readonly json: unknown } | { readonly problem: string } {
  if (status !== 200) return { problem: `expected status 200, got ${status}` };
  if (body.length >= MAX_ANSWER_BYTES) return { problem: TOO_LARGE };
  const json = parsed(body);
  return valueAt(json, 'status') === 'success'
    ? { json }
    : { problem: 'the answer is not one of Prometheus' };
}

/** Thanos and Mimir warn of parts that they could not ask. */
function partialOf(json: unknown): { readonly partial?: string } {
  const [warning] = listAt(json, 'warnings');
  return warning === undefined
    ? {}
    : { partial: (typeof warning === 'string' ? warning : 'no reason').slice(0, 200) };
}

/** Without events a ratio is NaN: there is no value, which is not a problem. */
function sampleOf(sample: unknown): ReportSample | undefined {
  const [, text] = listAt(sample, 'value');
  const metric = valueAt(sample, 'metric');
  if (typeof text !== 'string' || typeof metric !== 'object' || metric === null) return undefined;
  const labels = Object.fromEntries(Object.entries(metric).map(([name, value]) => [name, String(value)]));
  return { labels, value: Number(text.replace('Inf', 'Infinity')) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
