/** Builds the values of charts: of the memory of the console, or of Prometheus. Pure; runs in the page. */
import type { ConsoleState, HistoryPoint } from '../state.ts';
import type { HistoryField } from './lines.ts';
import { POINT_MS } from './points.ts';
import { type HistoryRange, type PastAnswer, RANGE_TIMES } from './ranges.ts';

export interface HistoryColumns {
  /** The range that is shown, in seconds of the epoch, whatever is known of it. */
  readonly from: number;
  readonly to: number;
  readonly times: readonly number[];
  /** The values of each line that is known; null: a gap. */
  readonly lines: Readonly<Partial<Record<HistoryField, readonly (number | null)[]>>>;
}

/** After a pause of so many points the console did not run, or the machine slept: a line across it would be invented. */
const PAUSE_POINTS = 3;
const FIELDS = ['ready', 'updated', 'changing', 'trouble', 'repairs', 'grants'] as const;

export function memoryColumns(history: ConsoleState['history'], range: HistoryRange): HistoryColumns {
  const all = Object.entries<HistoryPoint>(history);
  const to = Number(all.at(-1)?.[0] ?? 0);
  const from = to - RANGE_TIMES[range].seconds;
  const points: (readonly [second: number, point: HistoryPoint | undefined])[] = [];
  for (const [key, point] of all) {
    const second = Number(key);
    if (second < from) continue;
    const before = points.at(-1)?.[0] ?? second;
    if (second - before > (PAUSE_POINTS * POINT_MS) / 1000) points.push([before + 1, undefined]);
    points.push([second, point]);
  }
  const lines = FIELDS.map((field) => [field, points.map(([, point]) => point?.[field] ?? null)] as const);
  return { from, to, times: points.map(([second]) => second), lines: Object.fromEntries(lines) };
}

/** The last point is that of the end of its step, which may not be over: it is drawn at the time of the answer. */
export function pastColumns({ at, from, step, lines }: PastAnswer, range: HistoryRange): HistoryColumns {
  const length = Math.max(0, ...Object.values(lines).map((values) => values.length));
  const times = Array.from({ length }, (_, index) => Math.min(from + index * step, at));
  return { from: at - RANGE_TIMES[range].seconds, to: at, times, lines };
}

export interface LineSummary {
  /** Undefined: not known now. */
  readonly now: number | undefined;
  readonly most: number;
  readonly least: number;
}

/** Undefined: nothing is known of the line. */
export function summarizeLine(values: readonly (number | null)[] = []): LineSummary | undefined {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return undefined;
  return { now: values.at(-1) ?? undefined, most: Math.max(...known), least: Math.min(...known) };
}

/** Moves labels apart that would cover each other, and keeps them in their order and between the edges. Returns the new places. */
export function spreadLabels(places: readonly number[], size: number, height: number): readonly number[] {
  const order = places.map((_, index) => index).toSorted((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  const spread = [...places];
  let least = 0;
  for (const index of order) {
    spread[index] = Math.max(spread[index] ?? 0, least);
    least = (spread[index] ?? 0) + size;
  }
  let most = height - size;
  for (const index of order.toReversed()) {
    spread[index] = Math.min(spread[index] ?? 0, most);
    most = (spread[index] ?? 0) - size;
  }
  return spread;
}
