/** Reads what has ended lately of a repair job or a component set. */
import { MACHINE_COMPONENT_SETS, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import type { MachineComponentSet, RemedyOperationJob } from '../../api/generated/types.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { type EndedTrace, isExportable } from '../../observability/trace/sources/ended.ts';
import { endedRepair } from '../../observability/trace/sources/repair.ts';
import { rolloutTraces } from '../../observability/trace/sources/rollout.ts';

/** The name of an object has no slash. */
const SET_PREFIX = 'componentset/';

export function keyOfSet(name: string): string {
  return `${SET_PREFIX}${name}`;
}

/** Returns what changes when a batch or a rollout has ended. */
export function rolloutMoments({ status }: MachineComponentSet): unknown {
  const { updateRevision, batch, history = [] } = status ?? {};
  return [updateRevision, batch?.index, batch?.settledAt, history.map(({ finishedAt }) => finishedAt)];
}

export function endedTraces(
  key: string,
  context: Pick<ReconcileContext, 'view' | 'clock'>,
): readonly EndedTrace[] {
  const now = context.clock.now();
  return tracesOf(key, context).filter((each) => isExportable(each, now));
}

function tracesOf(key: string, context: Pick<ReconcileContext, 'view'>): readonly EndedTrace[] {
  if (!key.startsWith(SET_PREFIX)) {
    const job = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).get(key);
    return job ? endedRepair(job) : [];
  }
  const name = key.slice(SET_PREFIX.length);
  const set = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).get(name);
  return set ? rolloutTraces(set) : [];
}
