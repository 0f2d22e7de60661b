/** Keeps the last hour in numbers: a point every few seconds, the same for every page. Pure; also runs in the page. */
import { machinesInRepair, openRepairs } from '../open-repairs.ts';
import { machineSign } from '../signs.ts';
import type { ConsoleState, FleetRows, HistoryPoint } from '../state.ts';

/** The number of points in an hour. */
const MAX_POINTS = 720;
export const POINT_MS = 3_600_000 / MAX_POINTS;

export function pointOf({ machines, repairs, grants, rollouts }: FleetRows): HistoryPoint {
  const repaired = machinesInRepair(repairs);
  const tones = Object.entries(machines).map(([key, tile]) => machineSign(tile, repaired.has(key)).tone);
  return {
    ready: Object.values(machines).filter(({ p: phase }) => phase === 'Ready').length,
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
