/**
 * Records the objects whose drift was corrected last in a cluster, for the status of the Cluster. Each object is one row with a
 * count, so that a fight with another program does not push all others out. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CorrectedDrift, CorrectedObject } from '../api/generated/types.ts';
import { byCode } from '../kube/objects/digest.ts';
import { RECORD_EVERY_MS } from '../rollout/soak-clock.ts';

/** Holds one correction of one object. */
export type DriftCorrection = Omit<CorrectedObject, 'since' | 'count'>;

/** The limit in the schema of the status. */
const MAX_OBJECTS = 20;

/** Adds a correction to the history. `before` must contain what is recorded, so that the counts continue after a restart. */
export function withCorrection(
  before: CorrectedDrift | undefined,
  correction: DriftCorrection,
): CorrectedDrift {
  const { total = 0, objects = [] } = before ?? {};
  const { since = correction.correctedAt, count = 0 } =
    objects.find(({ object }) => object === correction.object) ?? {};
  const others = objects.filter(({ object }) => object !== correction.object);
  return {
    total: total + 1,
    objects: newestFirst([{ ...correction, since, count: count + 1 }, ...others]),
  };
}

/**
 * Joins what two processes, or a process and the hub, know about the same cluster. Of each object the later correction counts, so
 * that joining twice changes nothing, and the order does not matter.
 */
export function joinDrift(
  one: CorrectedDrift | undefined,
  other: CorrectedDrift | undefined,
): CorrectedDrift | undefined {
  if (!one || !other) return one ?? other;
  return {
    total: Math.max(one.total ?? 0, other.total ?? 0),
    objects: newestFirst(joinRows(one.objects ?? [], other.objects ?? [])),
  };
}

function joinRows(
  one: readonly CorrectedObject[],
  other: readonly CorrectedObject[],
): readonly CorrectedObject[] {
  const rows = new Map(one.map((row) => [row.object, row]));
  for (const row of other) {
    const known = rows.get(row.object);
    if (!known || isLater(row, known)) rows.set(row.object, row);
  }
  return [...rows.values()];
}

/**
 * Returns what to record now. A storm or a fight is recorded at once, and then at most twice a minute, however many corrections
 * it takes.
 */
export function driftToRecord(
  recorded: CorrectedDrift | undefined,
  observed: CorrectedDrift | undefined,
  now: Date,
): CorrectedDrift | undefined {
  const joined = joinDrift(recorded, observed);
  if (!recorded) return joined;
  if (isDeepStrictEqual(joined, recorded)) return recorded;
  const [newest] = recorded.objects ?? [];
  const ageMs = newest ? Math.abs(now.getTime() - Date.parse(newest.correctedAt)) : Infinity;
  return ageMs >= RECORD_EVERY_MS ? joined : recorded;
}

/**
 * Tells whether a row is later than the known one. The count of a row only grows, also while a clock goes back; a row that was
 * dropped begins again, and later.
 */
function isLater(row: CorrectedObject, known: CorrectedObject): boolean {
  const [order = 0] = [
    Date.parse(row.since) - Date.parse(known.since),
    (row.count ?? 0) - (known.count ?? 0),
    Date.parse(row.correctedAt) - Date.parse(known.correctedAt),
  ].filter((difference) => difference !== 0);
  return order > 0;
}

function newestFirst(rows: readonly CorrectedObject[]): readonly CorrectedObject[] {
  return rows
    .toSorted((a, b) => Date.parse(b.correctedAt) - Date.parse(a.correctedAt) || byCode(a.object, b.object))
    .slice(0, MAX_OBJECTS);
}
