/** Writes notes about hosted control planes: what each waits for, and when it begins no change: now, and next. Pure. */
import type { Cluster } from '../../api/generated/types.ts';
import type { ClosedTimes } from '../../rollout/maintenance-windows.ts';
import { closedSetNotes } from './closed-times.ts';

export function hostedNotes(cluster: Cluster, now: Date): readonly string[] {
  const times = closedTimesOf(cluster).flatMap((each) => closedSetNotes(each, now));
  const notes = [...new Set(times)].map((note) => `changes of its control plane: ${note}`);
  return [...waitNotes(cluster), ...notes].map((note) => `Cluster ${cluster.metadata.name}: ${note}`);
}

function waitNotes({ status }: Cluster): readonly string[] {
  const waiting = status?.hosted?.waiting;
  return waiting ? [`its control plane waits: ${waiting.reason}: ${waiting.message ?? ''}`] : [];
}

/** Returns those of the spec, and those that a commit removed which is still held by them. */
function closedTimesOf({ spec, status }: Cluster): readonly ClosedTimes[] {
  if (!spec.hosted) return [];
  const former = status?.hosted?.closedTimes;
  // Absent where the hub was installed by an older version.
  const { windows, freezes } = spec.hosted.upgrade;
  return [{ windows: windows ?? [], freezes: freezes ?? [] }, ...(former ? [former] : [])];
}
