/** Writes notes about hosted control planes: what each waits for, and when it begins no change: now, and next. Pure. */
import type { Cluster } from '../../api/generated/types.ts';
import { judgingTimes } from '../../rollout/closed-times.ts';
import { closedSetNotes } from './closed-times.ts';

export function hostedNotes(cluster: Cluster, now: Date): readonly string[] {
  const notes = closedNotes(cluster, now).map((note) => `changes of its control plane: ${note}`);
  return [...waitNotes(cluster), ...notes].map((note) => `Cluster ${cluster.metadata.name}: ${note}`);
}

function waitNotes({ status }: Cluster): readonly string[] {
  const waiting = status?.hosted?.waiting;
  return waiting ? [`its control plane waits: ${waiting.reason}: ${waiting.message ?? ''}`] : [];
}

function closedNotes({ spec, status }: Cluster, now: Date): readonly string[] {
  if (!spec.hosted) return [];
  // Absent where the hub was installed by an older version.
  const { windows, freezes } = spec.hosted.upgrade;
  const declared = { windows: windows ?? [], freezes: freezes ?? [] };
  return closedSetNotes(judgingTimes(declared, status?.hosted?.closedTimes), now);
}
