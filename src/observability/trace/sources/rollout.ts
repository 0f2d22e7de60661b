/**
 * Makes the traces of a component set: of its batch, as soon as the machines of it are settled, and of each rollout that has ended. They are
 * parts of the trace of the commit. Pure.
 */
import type {
  FailedMachine,
  MachineComponentSet,
  MachineComponentSetStatus,
  RevisionRecord,
  RolloutBatch,
} from '../../../api/generated/types.ts';
import {
  changeSpan,
  type StepOutcome,
  spanIdOf,
  type Trace,
  type TraceEvent,
  type TraceStep,
} from '../trace.ts';
import type { EndedTrace } from './ended.ts';

/**
 * The commit is the one that was recorded when the rollout began: a later one may change the set without another revision. A rollout that has
 * none recorded has no trace.
 */
export function rolloutTraces(set: MachineComponentSet): readonly EndedTrace[] {
  const ended = (set.status?.history ?? []).flatMap((record) => finishedTrace(set, record));
  return [...batchTrace(set), ...ended];
}

function finishedTrace(set: MachineComponentSet, record: RevisionRecord): readonly EndedTrace[] {
  const { finishedAt: endedAt, commit } = record;
  if (endedAt === undefined || commit === undefined) return [];
  const key = rolloutKey(set, record);
  const trace = (): Trace => {
    const { traceId, spanId: parentSpanId } = changeSpan(commit);
    return { traceId, parentSpanId, root: rolloutStep(set, record, { key, commit }) };
  };
  return [{ key: `${key}/end`, what: 'rollout', endedAt, trace }];
}

/** A batch that was settled; it then soaks until the next one begins. */
function batchTrace(set: MachineComponentSet): readonly EndedTrace[] {
  const { batch, updateRevision: revision, startedAt, commit } = set.status ?? {};
  if (!batch?.settledAt || !commit || !revision || !startedAt) return [];
  const { settledAt: endedAt } = batch;
  const key = rolloutKey(set, { revision, startedAt });
  const trace = (): Trace => {
    const { traceId } = changeSpan(commit);
    const root = batchStep(set, batch, { key: `${key}/batch/${batch.index ?? 0}`, commit });
    return { traceId, parentSpanId: spanIdOf(traceId, [key]), root };
  };
  // A machine that fails while the batch soaks settles it again, later.
  return [{ key: `${key}/batch/${batch.index ?? 0}/${endedAt}`, what: 'rollout', endedAt, trace }];
}

/** A revision that is rolled out again, later, is another rollout. */
function rolloutKey(
  { metadata: { uid, name } }: MachineComponentSet,
  { revision = '', startedAt = '' }: Pick<RevisionRecord, 'revision' | 'startedAt'>,
): string {
  return `rollout/${uid ?? name}/${revision}/${startedAt}`;
}

interface StepPlace {
  readonly key: string;
  readonly commit: string;
}

function rolloutStep(
  set: MachineComponentSet,
  record: RevisionRecord,
  { key, commit }: StepPlace,
): TraceStep {
  const { revision, startedAt, finishedAt, result, components = [] } = record;
  const { counts = {}, failedMachines = [] } = currentStatus(set, record);
  const outcome = outcomeOf(record);
  return {
    key,
    name: 'rollout',
    startedAt,
    endedAt: finishedAt,
    outcome,
    state: result,
    reason: record.reason,
    because: record.message,
    attributes: {
      'kubenode.commit': commit,
      'kubenode.component_set': set.metadata.name,
      'kubenode.revision': revision,
      'kubenode.components': components.join(','),
      'kubenode.machines': counts.selected,
      'kubenode.machines.updated': counts.updated,
      'kubenode.machines.failed': counts.failed,
    },
    events: failedMachines.flatMap(failureEvent),
    steps: outcome === 'Error' ? failedBatch(set, record, { key, commit }) : [],
  };
}

/** One that stopped, and was then superseded, has failed. */
function outcomeOf({ result, reason }: RevisionRecord): StepOutcome {
  if (result === 'Completed') return 'Ok';
  return result === 'RolledBack' || reason !== undefined ? 'Error' : 'Unset';
}

/** The status counts the machines of the rollout that began last. */
function currentStatus(
  { status }: MachineComponentSet,
  { revision, startedAt }: RevisionRecord,
): Pick<MachineComponentSetStatus, 'counts' | 'failedMachines' | 'batch'> {
  return status && status.updateRevision === revision && status.startedAt === startedAt ? status : {};
}

function failureEvent({ name, since, code, component }: FailedMachine): readonly TraceEvent[] {
  const attributes = { 'k8s.node.name': name, 'kubenode.component': component, 'error.type': code };
  return since === undefined ? [] : [{ name: 'machine failed', at: since, attributes }];
}

function batchStep(
  { metadata, status }: MachineComponentSet,
  { index = 0, of, size, failed = 0, updated, startedAt, settledAt }: RolloutBatch,
  { key, commit }: StepPlace,
): TraceStep {
  return {
    key,
    name: 'batch',
    startedAt,
    endedAt: settledAt,
    ...batchResult(failed),
    attributes: {
      'kubenode.commit': commit,
      'kubenode.component_set': metadata.name,
      'kubenode.revision': status?.updateRevision,
      'kubenode.batch': index,
      'kubenode.batches': of,
      'kubenode.machines': size,
      'kubenode.machines.updated': updated,
      'kubenode.machines.failed': failed,
    },
  };
}

/**
 * A batch that exceeded its budget is never settled: its span ends with the rollout. Its machines went back, so that the status counts none of
 * them as failed.
 */
function failedBatch(
  set: MachineComponentSet,
  record: RevisionRecord,
  { key, commit }: StepPlace,
): readonly TraceStep[] {
  const { batch } = currentStatus(set, record);
  if (!batch || batch.settledAt !== undefined) return [];
  const step = batchStep(set, batch, { key: `${key}/batch/${batch.index ?? 0}`, commit });
  const { reason, message: because } = record;
  const counts = { 'kubenode.machines.updated': undefined, 'kubenode.machines.failed': undefined };
  const attributes = { ...step.attributes, ...counts };
  return [{ ...step, outcome: 'Error', state: 'Failed', reason, because, attributes }];
}

function batchResult(failed: number): Pick<TraceStep, 'outcome' | 'state' | 'because'> {
  if (failed === 0) return { outcome: 'Ok', state: 'Settled' };
  return { outcome: 'Error', state: 'Failed', because: `${failed} machines failed` };
}
