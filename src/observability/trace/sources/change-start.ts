/** Decides when a commit begins in its trace. The time of a commit is that of the clock of a person, who may have set it. Pure. */
import { TIME_ADJUSTED, type TraceAttributes } from '../trace.ts';

export interface ChangeStart {
  readonly startedAt: string | undefined;
  readonly attributes: TraceAttributes;
}

/** A commit that waited for longer, such as in a branch, would hide the rollout in its trace. */
const MAX_LEAD_MS = 86_400_000;

/** `createdAt` is when the Release was created, by the clock of the hub. */
export function changeStart(committedAt: string | undefined, createdAt: string | undefined): ChangeStart {
  if (committedAt === undefined || createdAt === undefined) {
    return { startedAt: committedAt ?? createdAt, attributes: {} };
  }
  const leadMs = Date.parse(createdAt) - Date.parse(committedAt);
  if (leadMs >= 0 && leadMs <= MAX_LEAD_MS) return { startedAt: committedAt, attributes: {} };
  const attributes = { [TIME_ADJUSTED]: true, 'kubenode.commit.committed_at': committedAt };
  return { startedAt: createdAt, attributes };
}
