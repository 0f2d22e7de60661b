/** Reads what the answer to a query of a rule has for each machine. What is not one number for one machine is a reason. Pure. */
import { isRecord, textAt, valueAt } from '../../kube/objects/json.ts';
import { readApiAnswer, readValue } from '../../observability/query/answer.ts';
import type { QueryAnswer } from '../../observability/query/client.ts';
import { MACHINE_LABEL } from '../facts/metric.ts';

/** The value for a machine, or why there is none. */
export type MachineSample = number | string;

export type MetricAnswer =
  | { readonly samples: ReadonlyMap<string, MachineSample> }
  /** Why the answer has nothing for any machine. */
  | { readonly problem: string };

export function readMachineSamples(answer: QueryAnswer, now: Date): MetricAnswer {
  const read = readVector(answer);
  if ('problem' in read) return read;
  const samples = samplesByMachine(read.vector, now);
  const isLost = samples.size === 0 && read.vector.length > 0;
  return isLost ? { problem: `no sample has the label ${MACHINE_LABEL}` } : { samples };
}

function readVector(
  answer: QueryAnswer,
): { readonly vector: readonly unknown[] } | { readonly problem: string } {
  if ('problem' in answer) return answer;
  const read = readApiAnswer(answer.body);
  if ('problem' in read) return read;
  const { data, warning } = read;
  // The machines that are missing may be in the part that was not asked.
  if (warning !== undefined) return { problem: `Prometheus answered with a warning: ${warning}` };
  const result = valueAt(data, 'result');
  const isVector = valueAt(data, 'resultType') === 'vector' && Array.isArray(result);
  return isVector
    ? { vector: result as readonly unknown[] }
    : { problem: 'Prometheus did not return a vector: use a query that selects series' };
}

function samplesByMachine(vector: readonly unknown[], now: Date): ReadonlyMap<string, MachineSample> {
  const samples = new Map<string, MachineSample>();
  for (const each of vector) {
    const machine = textAt(isRecord(each) ? each : undefined, 'metric', MACHINE_LABEL);
    if (machine === undefined || machine === '') continue;
    samples.set(machine, samples.has(machine) ? SEVERAL : sampleOf(valueAt(each, 'value'), now));
  }
  return samples;
}

const SEVERAL = `several samples have the label ${MACHINE_LABEL} of the machine: aggregate the query by (${MACHINE_LABEL})`;

/** NaN and infinity are the result of a division by zero, and no measurement. */
function sampleOf(value: unknown, now: Date): MachineSample {
  const found = readValue(value, now);
  if ('problem' in found) return found.problem;
  return Number.isFinite(found.value) ? found.value : `Prometheus returned ${found.value}`;
}
