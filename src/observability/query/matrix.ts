/** Reads the answer of Prometheus to the query of one line over a range. Pure. */
import { listAt, textAt } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';
import { numberIn, readApiAnswer } from './answer.ts';
import type { QueryRange } from './client.ts';

/** `values`: one for each time of the range; null where Prometheus has none. `partial`: Prometheus answered for a part of the data. */
export type MatrixLine =
  | { readonly values: readonly (number | null)[]; readonly partial?: string }
  | { readonly problem: string };

const MAX_WARNING = 200;

/** Returns how many times a range has. */
export function rangeLength({ from, to, step }: QueryRange): number {
  return Math.floor((to - from) / step) + 1;
}

/** An answer without a series has no values at all: that is not a line of zeros. */
export function readLine(body: string, range: QueryRange): MatrixLine {
  const answer = readApiAnswer(body);
  if ('problem' in answer) return answer;
  const { data, warning } = answer;
  if (textAt(data, 'resultType') !== 'matrix') return { problem: 'Prometheus returned no matrix' };
  const series = listAt(data, 'result');
  if (series.length > 1) return { problem: `expected one series, got ${series.length}` };
  const values = valuesIn(listAt(series[0], 'values'), range);
  if (!values) return { problem: 'Prometheus returned a value that cannot be read' };
  return { values, ...optional('partial', warning?.slice(0, MAX_WARNING)) };
}

/** Undefined: a sample cannot be read. NaN and infinite values are gaps. */
function valuesIn(samples: readonly unknown[], range: QueryRange): readonly (number | null)[] | undefined {
  const places = samples.map((sample) => placeOf(sample, range));
  const values = Array.from<number | null>({ length: rangeLength(range) }).fill(null);
  for (const place of places) {
    if (place === undefined) return undefined;
    if (place.index in values && Number.isFinite(place.value)) values[place.index] = place.value;
  }
  return values;
}

interface Place {
  readonly index: number;
  readonly value: number;
}

function placeOf(sample: unknown, { from, step }: QueryRange): Place | undefined {
  const [seconds, text] = Array.isArray(sample) ? (sample as readonly unknown[]) : [];
  const value = numberIn(text);
  if (typeof seconds !== 'number' || value === undefined) return undefined;
  return { index: Math.round((seconds - from) / step), value };
}
