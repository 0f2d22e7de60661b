/** Reads the answer of Prometheus to an instant query. What is missing, partial, old or not a number is a problem. Pure. */
import { listAt, valueAt } from '../../kube/objects/json.ts';

export type ReadSamples =
  /** Each sample as it was sent. */
  { readonly type: 'scalar' | 'vector'; readonly samples: readonly unknown[] } | { readonly problem: string };

/** Prometheus looks this far back for a sample of its own. An older answer was kept by somebody in between. */
const MAX_AGE_MS = 300_000;

export function readSamples(body: string): ReadSamples {
  const answer = readApiAnswer(body);
  if ('problem' in answer) return answer;
  // What fails may be in the part that was not asked.
  if (answer.warning !== undefined) return { problem: PARTIAL };
  return samplesIn(answer.data) ?? { problem: 'Prometheus returned neither a scalar nor a vector' };
}

/** `warning`: Thanos and Mimir warn of parts that they could not ask. */
export type ReadAnswer = { readonly data: unknown; readonly warning?: string } | { readonly problem: string };

/** Reads what each answer of the API has. */
export function readApiAnswer(body: string): ReadAnswer {
  const answer = parsed(body);
  if (valueAt(answer, 'status') !== 'success') return { problem: 'Prometheus returned no result of a query' };
  const data = valueAt(answer, 'data');
  const [warning] = listAt(answer, 'warnings');
  if (warning === undefined) return { data };
  return { data, warning: typeof warning === 'string' ? warning : 'no reason' };
}

const PARTIAL = 'Prometheus answered with warnings, as for a part of the data';

export type ReadValue = { readonly value: number } | { readonly problem: string };

/** Returns the value of a sample of now, which may be infinite. */
export function readValue(sample: unknown, now: Date): ReadValue {
  const [seconds, text] = Array.isArray(sample) ? (sample as readonly unknown[]) : [];
  const value = numberIn(text);
  if (typeof seconds !== 'number' || value === undefined) {
    return { problem: 'Prometheus returned a value that cannot be read' };
  }
  if (Math.abs(+now - seconds * 1000) > MAX_AGE_MS) {
    return { problem: `the answer of Prometheus is not of now: its time is ${seconds}` };
  }
  return { value };
}

/** A scalar is `[time, "value"]`; a vector is a list of samples, each with such a pair. Undefined: it is neither. */
function samplesIn(data: unknown): ReadSamples | undefined {
  const result = listAt(data, 'result');
  const type = valueAt(data, 'resultType');
  if (type === 'scalar') return { type, samples: [result] };
  const isVector = type === 'vector' && Array.isArray(valueAt(data, 'result'));
  return isVector ? { type, samples: result.map((each) => valueAt(each, 'value')) } : undefined;
}

/** The form of Go, which is narrower than what `Number` accepts: an empty text is not 0. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|Inf)$|^NaN$/i;

/** Reads a number of Prometheus, which may be NaN or infinite. */
export function numberIn(text: unknown): number | undefined {
  return typeof text === 'string' && NUMBER.test(text) ? Number(text.replace(/inf/i, 'Infinity')) : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
