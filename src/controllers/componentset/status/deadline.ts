/** How long a rollout makes no progress. Pure. */

import type { MachineComponentSet, MachineComponentSetStatus } from '../../../api/generated/types.ts';
import type { Reason } from '../../../api/names.ts';
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { secondsAfter } from '../../../os/dates.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { SetReport } from './report.ts';

type Shown = Pick<MachineComponentSetStatus, 'updateRevision' | 'batch' | 'counts' | 'history'>;

/** A person decides when these end, or a time that the set itself asks for. */
const WITHOUT_DEADLINE: ReadonlySet<string> = new Set<Reason>([
  'AllDone',
  'ApprovalRequired',
  'Freeze',
  'GateLoosened',
  'HeldByPartition',
  'OutsideWindow',
  'Paused',
  'RolledBack',
  'Soaking',
]);

/** Undefined where no deadline applies. It begins again after each pause, soak and approval. */
export function lastProgress(
  { input, plan }: SetReport,
  wait: Explanation | undefined,
  after: Shown,
): Date | undefined {
  if (WITHOUT_DEADLINE.has((wait ?? plan.limit).reason)) return undefined;
  const before = input.set.status;
  const isMoving = plan.mode === 'RollingBack' ? hasReturned : hasProgressed;
  if (before?.progressedAt === undefined || isMoving(before, after)) return input.now;
  return new Date(before.progressedAt);
}

function hasProgressed(before: Shown, after: Shown): boolean {
  const isAnotherStep = canonicalJson(stepOf(before)) !== canonicalJson(stepOf(after));
  return isAnotherStep || (after.counts?.updated ?? 0) > (before.counts?.updated ?? 0);
}

function stepOf({ updateRevision = '', batch, history }: Shown): readonly unknown[] {
  const { revision = '', result = '' } = history?.[0] ?? {};
  return [updateRevision, batch?.index ?? null, revision, result];
}

/** In a rollback machines leave the revision, in whatever state they were. */
function hasReturned(before: Shown, after: Shown): boolean {
  return (['updated', 'failed', 'inProgress'] as const).some(
    (state) => before.counts?.[state] !== after.counts?.[state],
  );
}

/** When a set stalls that makes no progress. */
export function progressDeadline({ spec }: Pick<MachineComponentSet, 'spec'>, progressedAt: Date): Date {
  return secondsAfter(progressedAt, spec.rollout.progressDeadlineSeconds);
}
