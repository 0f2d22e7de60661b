/**
 * Judges what Prometheus answers to the query of a check: only one finite number within the bounds is Passed. Whatever is missing, partial,
 * old or not a number is Unknown. Pure.
 */
import { readSamples, readValue } from '../../observability/query/answer.ts';
import type { CheckAnswer } from './gate.ts';

export interface SampleBounds {
  readonly min?: number;
  readonly max?: number;
}

/** Accepts a scalar, or a vector of exactly one sample: several values cannot be compared with one pair of bounds. */
export function evaluateSample(body: string, bounds: SampleBounds, now: Date): CheckAnswer {
  const read = readSamples(body);
  if ('problem' in read) return unknown(read.problem);
  const { samples } = read;
  if (samples.length === 0) return unknown('Prometheus returned no value: no series matches the query');
  if (samples.length > 1) return unknown(`expected one value, got ${samples.length}: aggregate the query`);
  const found = readValue(samples[0], now);
  return 'problem' in found ? unknown(found.problem) : judgeValue(found.value, bounds);
}

function judgeValue(value: number, { min = -Infinity, max = Infinity }: SampleBounds): CheckAnswer {
  if (Number.isNaN(value)) return unknown('Prometheus returned NaN');
  if (value > max) return { result: 'Failed', message: `${value} is above ${max}` };
  if (value < min) return { result: 'Failed', message: `${value} is below ${min}` };
  // What is divided by nothing is infinite, whichever way the bounds are.
  if (!Number.isFinite(value)) return unknown(`Prometheus returned ${value}`);
  return { result: 'Passed', message: `${value} is within its bounds` };
}

function unknown(message: string): CheckAnswer {
  return { result: 'Unknown', message };
}
