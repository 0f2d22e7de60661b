/** Converts what a rollout remembers to the status and back. Pure. */
import type { MachineComponentSetStatus, RolloutBatch, RolloutStop } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import { MAX_STATUS_MESSAGE } from '../revision/history.ts';
import type { OpenBatch, RolloutProgress, StoppedRollout } from '../rollout/input.ts';

export function progressFromStatus(status: MachineComponentSetStatus | undefined): RolloutProgress {
  const {
    updateRevision,
    startedAt,
    commit,
    batch,
    history = [],
    pausedAt,
    closedTimes,
    gateInForce,
    stopped,
  } = status ?? {};
  return {
    ...optional('updateRevision', updateRevision),
    ...optional('startedAt', dateOf(startedAt)),
    ...optional('commit', commit),
    ...optional('batch', batch && openBatch(batch)),
    history,
    ...optional('pausedAt', dateOf(pausedAt)),
    ...optional('closedTimes', closedTimes),
    ...optional('gateInForce', gateInForce),
    ...optional('stopped', stopped && stoppedRollout(stopped)),
  };
}

/** A batch without its size or its start was not written by this controller. */
function openBatch(batch: RolloutBatch): OpenBatch | undefined {
  const { index, size, total, startedAt, settledAt, soakUntil, gates, inconclusive, inconclusiveAt } = batch;
  if (index === undefined || size === undefined || startedAt === undefined) return undefined;
  return {
    index,
    size,
    total: total ?? size,
    startedAt: new Date(startedAt),
    ...optional('settledAt', dateOf(settledAt)),
    ...optional('soakUntil', dateOf(soakUntil)),
    ...optional('gates', gates),
    ...optional('inconclusive', inconclusive),
    ...optional('inconclusiveAt', dateOf(inconclusiveAt)),
  };
}

function stoppedRollout({ reason, message, retryToken }: RolloutStop): StoppedRollout {
  return { reason, because: message, ...optional('retryToken', retryToken) };
}

function dateOf(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

type ProgressStatus = Pick<
  MachineComponentSetStatus,
  | 'updateRevision'
  | 'currentRevision'
  | 'startedAt'
  | 'commit'
  | 'history'
  | 'pausedAt'
  | 'closedTimes'
  | 'gateInForce'
  | 'stopped'
>;

/** The batch is in a field that shows more than what is remembered. */
export function progressStatus({
  updateRevision,
  startedAt,
  commit,
  history,
  pausedAt,
  closedTimes,
  gateInForce,
  stopped,
}: RolloutProgress): ProgressStatus {
  const current = history.find(({ result }) => result === 'Completed')?.revision;
  return {
    ...optional('currentRevision', current),
    ...optional('updateRevision', updateRevision),
    ...optional('startedAt', startedAt?.toISOString()),
    ...optional('commit', commit),
    history,
    ...optional('pausedAt', pausedAt?.toISOString()),
    ...optional('closedTimes', closedTimes),
    ...optional('gateInForce', gateInForce),
    ...optional('stopped', stopped && stopStatus(stopped)),
  };
}

function stopStatus({ reason, because, retryToken }: StoppedRollout): RolloutStop {
  return { reason, message: truncate(because, MAX_STATUS_MESSAGE), ...optional('retryToken', retryToken) };
}
