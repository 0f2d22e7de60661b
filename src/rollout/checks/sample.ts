/**
 * Judges what Prometheus answers to the query of a check: only one finite number within the bounds is Passed. Whatever is missing, partial,
 * old or not a number is Unknown. Pure.
 */
import { listAt, valueAt } from '../../kube/objects/json.ts';
import type { CheckAnswer } from './gate.ts';

export interface SampleBounds {
  readonly min?: number;
  readonly max?: number;
}

/** Prometheus looks this far back for a sample of its own. An older answer was kept by somebody in between. */
const MAX_AGE_MS = 300_000;

/** Accepts a scalar, or a vector of exactly one sample: several values cannot be compared with one pair of bounds. */
export function evaluateSample(body: string, bounds: SampleBounds, now: Date): CheckAnswer {
  const answer = parsed(body);
  if (valueAt(answer, 'status') !== 'success') return unknown('Prometheus returned no result of a query');
  // Thanos and Mimir warn of parts that they could not ask: what fails may be in there.
  if (listAt(answer, 'warnings').length > 0) return unknown(PARTIAL);
  const samples = samplesIn(answer);
  if (!samples) return unknown('Prometheus returned neither a scalar nor a vector');
  const [sample] = samples;
  if (samples.length === 0) return unknown('Prometheus returned no value: no series matches the query');
  if (samples.length > 1) return unknown(`expected one value, got ${samples.length}: aggregate the query`);
  return judgeSample(sample, bounds, now);
}

const PARTIAL = 'Prometheus answered with warnings, as for a part of the data';

function judgeSample(sample: unknown, bounds: SampleBounds, now: Date): CheckAnswer {
  const [seconds, text] = Array.isArray(sample) ? (sample as readonly unknown[]) : [];
  const value = numberIn(text);
  if (typeof seconds !== 'number' || value === undefined) {
    return unknown('Prometheus returned a value that cannot be read');
  }
  if (Math.abs(+now - seconds * 1000) > MAX_AGE_MS) {
    return unknown(`the answer of Prometheus is not of now: its time is ${seconds}`);
  }
  return judgeValue(value, bounds);
}

function judgeValue(value: number, { min = -Infinity, max = Infinity }: SampleBounds): CheckAnswer {
  if (Number.isNaN(value)) return unknown('Prometheus returned NaN');
  if (value > max) return { result: 'Failed', message: `${value} is above ${max}` };
  if (value < min) return { result: 'Failed', message: `${value} is below ${min}` };
  // What is divided by nothing is infinite, whichever way the bounds are.
  if (!Number.isFinite(value)) return unknown(`Prometheus returned ${value}`);
  return { result: 'Passed', message: `${value} is within its bounds` };
}

/** A scalar is `[time, "value"]`; a vector is a list of samples, each with such a pair. Undefined: it is neither. */
function samplesIn(answer: unknown): readonly unknown[] | undefined {
  const result = listAt(answer, 'data', 'result');
  const type = valueAt(answer, 'data', 'resultType');
  if (type === 'scalar') return [result];
  return type === 'vector' ? result.map((each) => valueAt(each, 'value')) : undefined;
}

/** The form of Go, which is narrower than what `Number` accepts: an empty text is not 0. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|Inf)$|^NaN$/i;

function numberIn(text: unknown): number | undefined {
  return typeof text === 'string' && NUMBER.test(text) ? Number(text.replace(/inf/i, 'Infinity')) : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function unknown(message: string): CheckAnswer {
  return { result: 'Unknown', message };
}
