/** Judges the answer of Prometheus to the query of a blocker: any sample blocks, and what cannot be trusted is Unknown. Pure. */
import { readSamples, readValue } from '../../observability/query/answer.ts';
import type { QueryAnswer } from '../../observability/query/client.ts';

export interface AlertResult {
  readonly state: 'Quiet' | 'Firing' | 'Unknown';
  readonly message: string;
}

/** The most samples that are read: a query that returns more selects something else than alerts. */
const MAX_SAMPLES = 1000;

export function alertResult(answer: QueryAnswer, now: Date): AlertResult {
  if ('problem' in answer) return unknown(answer.problem);
  const read = readSamples(answer.body);
  if ('problem' in read) return unknown(read.problem);
  const { type, samples } = read;
  // A scalar always has a value: it would block for ever.
  if (type === 'scalar') return unknown('Prometheus returned a scalar: use a query that selects series');
  if (samples.length > MAX_SAMPLES) {
    return unknown(`at most ${MAX_SAMPLES} samples are read, got ${samples.length}: aggregate the query`);
  }
  const [problem] = samples.flatMap((sample) => sampleProblem(sample, now) ?? []);
  if (problem !== undefined) return unknown(problem);
  if (samples.length === 0) return { state: 'Quiet', message: 'no sample' };
  return { state: 'Firing', message: samples.length === 1 ? '1 sample' : `${samples.length} samples` };
}

function sampleProblem(sample: unknown, now: Date): string | undefined {
  const found = readValue(sample, now);
  if ('problem' in found) return found.problem;
  return Number.isNaN(found.value) ? 'Prometheus returned NaN' : undefined;
}

function unknown(message: string): AlertResult {
  return { state: 'Unknown', message };
}
