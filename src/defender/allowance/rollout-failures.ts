/** Finds which rollouts of a set failed, and what they would have brought. Pure. */
import type { MachineComponentSet, RevisionRecord } from '../../api/generated/types.ts';
import type { Reason } from '../../api/names.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';

export interface RolloutFailure {
  readonly set: string;
  readonly revision: string;
  /** MachineComponents that were new with the revision. */
  readonly components: readonly string[];
  /** When the rollout failed. */
  readonly at: string;
  /** When it was last known to be failed. */
  readonly lastAt: string;
  readonly because: string;
}

/** Why a rollout stopped whose machines or checks failed. All other reasons wait for people. */
const FAILED: ReadonlySet<string> = new Set<Reason>([
  'FailureBudgetSpent',
  'BatchUnproven',
  'GateFailed',
  'RollbackImpossible',
]);

/** Returns each failed revision once. `stillAt` is the time of a failure that goes on. */
export function rolloutFailures(set: MachineComponentSet, stillAt: string): readonly RolloutFailure[] {
  const history = set.status?.history ?? [];
  const rolledBack = history.flatMap((record) => rolledBackFailure(set, record, stillAt));
  const stopped = stoppedFailure(set, stillAt);
  const others = rolledBack.filter(({ revision }) => revision !== stopped?.revision);
  return stopped ? [stopped, ...others] : others;
}

/** While its machines go back, it goes on failing. */
function rolledBackFailure(
  set: MachineComponentSet,
  { revision, result, finishedAt, components = [] }: RevisionRecord,
  stillAt: string,
): readonly RolloutFailure[] {
  if (result !== 'RolledBack' || revision === undefined) return [];
  const at = finishedAt ?? stillAt;
  const because = finishedAt === undefined ? 'its machines go back' : 'it was rolled back';
  return [failureOf(set, { revision, components, at, lastAt: at, because })];
}

function stoppedFailure(set: MachineComponentSet, stillAt: string): RolloutFailure | undefined {
  const { stopped, updateRevision: revision, conditions } = set.status ?? {};
  if (!stopped || !FAILED.has(stopped.reason ?? '') || revision === undefined) return undefined;
  const stalled = conditionOf(conditions, 'Stalled');
  const at = stalled?.status === 'True' ? stalled.lastTransitionTime : stillAt;
  const present = set.spec.components.filter(({ state }) => state === 'Present');
  const components = present.map(({ componentRef }) => componentRef);
  const because = `${stopped.reason}: ${stopped.message}`;
  return failureOf(set, { revision, components, at, lastAt: stillAt, because });
}

/** Components that completed before are not new. */
function failureOf(
  { metadata, status }: MachineComponentSet,
  found: Omit<RolloutFailure, 'set'>,
): RolloutFailure {
  const before = (status?.history ?? []).find(({ result }) => result === 'Completed')?.components ?? [];
  const components = found.components.filter((each) => !before.includes(each));
  return { ...found, set: metadata.name, components };
}
