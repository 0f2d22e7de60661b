/** The open batch, as the status shows it. Pure. */
import type { RolloutBatch } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { startedIn } from '../rollout/batch-phase.ts';
import { plannedSizes } from '../rollout/batch-size.ts';
import { partitionLimit } from '../rollout/choice/partition.ts';
import { countEarlier } from '../rollout/next-batch.ts';
import { isPinned } from '../rollout/start-wait.ts';
import { hasFailed } from './counts.ts';
import type { SetReport } from './report.ts';

export function rolloutBatch({ input, plan }: SetReport): RolloutBatch | undefined {
  const { batch } = plan.progress;
  if (!batch) return undefined;
  const { index, size, total, startedAt, settledAt, soakUntil, gates, inconclusive, inconclusiveAt } = batch;
  const started = startedIn(input, plan.progress, batch);
  return {
    index,
    of: index + 1 + batchesAfter({ input, plan }, size - started.length),
    size,
    total,
    updated: started.filter(({ step }) => step === 'Settled').length,
    failed: started.filter(hasFailed).length,
    startedAt: startedAt.toISOString(),
    ...optional('settledAt', settledAt?.toISOString()),
    ...optional('soakUntil', soakUntil?.toISOString()),
    ...optional('gates', gates),
    ...optional('inconclusive', inconclusive),
    ...optional('inconclusiveAt', inconclusiveAt?.toISOString()),
  };
}

/** If no machine joins, leaves or fails. `open`: machines that the open batch still takes. */
function batchesAfter({ input, plan }: Pick<SetReport, 'input' | 'plan'>, open: number): number {
  const { desired, set, members } = input;
  const { batch } = plan.progress;
  if (!('revision' in desired) || !batch) return 0;
  const todo = members.filter(
    (each) => each.revision !== desired.revision.name && !each.hold && !isPinned(each, desired.revision),
  );
  const joining = new Set<string>();
  const { slots } = partitionLimit(input, { mode: plan.mode, revision: desired.revision, joining });
  const left = Math.max(0, Math.min(todo.length, slots) - open);
  const machines = { total: batch.total, left, canaries: 0, first: batch.index + 1 };
  const planned = plannedSizes(set.spec.rollout, machines, left).length;
  const last = Math.max(batch.index, ...countEarlier(input, desired.revision, plan.mode).keys());
  return Math.max(planned, last - batch.index);
}
