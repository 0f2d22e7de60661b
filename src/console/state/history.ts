/** Keeps the last hour in numbers: a point every few seconds, the same for every page. Pure; also runs in the page. */
import { machinesInRepair, openRepairs } from './open-repairs.ts';
import { machineSign } from './signs.ts';
import type { ConsoleState, FleetRows, HistoryPoint } from './state.ts';

/** The number of points in an hour. */
const MAX_POINTS = 720;
export const POINT_MS = 3_600_000 / MAX_POINTS;

export interface HistoryLine {
  readonly field: keyof HistoryPoint;
  readonly title: string;
  /** Whether the line has a scale of its own: it counts most of the fleet, and would flatten the others. */
  readonly hasOwnScale?: true;
}

export const HISTORY_LINES: readonly HistoryLine[] = [
  { field: 'changing', title: 'machines that change' },
  { field: 'trouble', title: 'machines in trouble' },
  { field: 'repairs', title: 'repairs' },
  { field: 'grants', title: 'grants' },
  { field: 'updated', title: 'machines updated by their rollouts (right scale)', hasOwnScale: true },
];

export function pointOf({ machines, repairs, grants, rollouts }: FleetRows): HistoryPoint {
  const repaired = machinesInRepair(repairs);
  const tones = Object.entries(machines).map(([key, tile]) => machineSign(tile, repaired.has(key)).tone);
  return {
    changing: tones.filter((tone) => tone === 'busy').length,
    trouble: tones.filter((tone) => tone === 'bad').length,
    repairs: openRepairs(repairs).length,
    grants: Object.keys(grants).length,
    updated: Object.values(rollouts).reduce((sum, { updated }) => sum + updated, 0),
  };
}

/** Adds a point by its second, and drops the oldest points: numbers as keys are in ascending order. */
export function addPoint(
  history: ConsoleState['history'],
  nowMs: number,
  point: HistoryPoint,
): ConsoleState['history'] {
  const next = { ...history, [Math.floor(nowMs / 1000)]: point };
  const all: readonly [string, HistoryPoint][] = Object.entries(next);
  return Object.fromEntries(all.slice(-MAX_POINTS));
}

/** Returns a column of times, in seconds, and a column for each line. */
export function historyColumns(
  history: ConsoleState['history'],
  lines: readonly HistoryLine[] = HISTORY_LINES,
): [number[], ...number[][]] {
  const points = Object.values(history);
  return [Object.keys(history).map(Number), ...lines.map(({ field }) => points.map((point) => point[field]))];
}

export interface HistorySummary {
  readonly now: number;
  readonly most: number;
}

/** Returns the newest and the largest value of one line. */
export function summarizeLine(history: ConsoleState['history'], field: keyof HistoryPoint): HistorySummary {
  const values = Object.values(history).map((point) => point[field]);
  return { now: values.at(-1) ?? 0, most: Math.max(0, ...values) };
}
