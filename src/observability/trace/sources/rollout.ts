/**
 * Makes the traces of a component set: of its batch, as soon as the machines of it are settled, and of its newest rollout when it has ended. They
 * are parts of the trace of the commit. Pure.
 */
import type {
  FailedMachine,
  MachineComponentSet,
  RevisionRecord,
  RolloutBatch,
} from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../../api/names.ts';
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
 * A revision that was superseded is left out: the set has the commit of the one that replaced it. A set without a commit is not from git, and
 * has no trace.
 */
export function rolloutTraces(set: MachineComponentSet): readonly EndedTrace[] {
  const commit = set.metadata.annotations?.[ANNOTATION_COMMIT];
  if (commit === undefined) return [];
  return [...batchTrace(set, commit), ...finishedTrace(set, commit)];
}

function finishedTrace(set: MachineComponentSet, commit: string): readonly EndedTrace[] {
  const [record] = set.status?.history ?? [];
  if (!record?.finishedAt || record.result === 'Superseded') return [];
  if (record.revision !== set.status?.updateRevision) return [];
  const { finishedAt: endedAt } = record;
  const key = rolloutKey(set, record);
  const trace = (): Trace => {
    const { traceId, spanId: parentSpanId } = changeSpan(commit);
    return { traceId, parentSpanId, root: rolloutStep(set, record, { key, commit }) };
  };
  return [{ key: `${key}/end`, what: 'rollout', endedAt, trace }];
}

/** A batch that was settled; it then soaks until the next one begins. */
function batchTrace(set: MachineComponentSet, commit: string): readonly EndedTrace[] {
  const { batch, updateRevision: revision, startedAt } = set.status ?? {};
  if (!batch?.settledAt || revision === undefined || startedAt === undefined) return [];
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

const RESULTS: Readonly<Record<string, StepOutcome>> = { Completed: 'Ok', RolledBack: 'Error' };

function rolloutStep(
  { metadata, status }: MachineComponentSet,
  { revision, startedAt, finishedAt, result = 'Completed', components = [] }: RevisionRecord,
  { key, commit }: StepPlace,
): TraceStep {
  const { counts = {}, failedMachines = [], stopped } = status ?? {};
  return {
    key,
    name: 'rollout',
    startedAt,
    endedAt: finishedAt,
    outcome: RESULTS[result] ?? 'Unset',
    state: result,
    ...(stopped ? { reason: stopped.reason, because: stopped.message } : firstFailure(failedMachines)),
    attributes: {
      'kubenode.commit': commit,
      'kubenode.component_set': metadata.name,
      'kubenode.revision': revision,
      'kubenode.components': components.join(','),
      'kubenode.machines': counts.selected,
      'kubenode.machines.updated': counts.updated,
      'kubenode.machines.failed': counts.failed,
    },
    events: failedMachines.flatMap(failureEvent),
  };
}

function firstFailure([first]: readonly FailedMachine[]): Pick<TraceStep, 'reason' | 'because'> {
  return { reason: first?.code, because: first?.message };
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

function batchResult(failed: number): Pick<TraceStep, 'outcome' | 'state' | 'because'> {
  if (failed === 0) return { outcome: 'Ok', state: 'Settled' };
  return { outcome: 'Error', state: 'Failed', because: `${failed} machines failed` };
}
