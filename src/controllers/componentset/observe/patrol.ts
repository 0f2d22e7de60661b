/** Runs the health patrol over what a Machine does not report of itself: conditions of its Node, and repairs. Pure. */
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import { isFaultStatus, parseTime } from '../../../api/machine/node-state.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Patrol } from '../machine/member-state.ts';

export interface PatrolInput {
  readonly node: KubeObject | undefined;
  /** The repairs of this machine. */
  readonly jobs: readonly RemedyOperationJob[];
  /** The result for restarts of the containers of its Pods. */
  readonly restarts: Patrol;
  /** When the update of the machine began, or its batch: a problem that existed before does not fail it. */
  readonly since: Date;
}

/** Returns the result of the patrol. A problem counts before anything that is unknown. */
export function patrolOf({ node, jobs, restarts, since }: PatrolInput): Patrol {
  const job = jobs.find(({ metadata }) => isSince(parseTime(metadata.creationTimestamp), since));
  if (job) return { result: 'Fail', because: `a repair began: RemedyOperationJob ${job.metadata.name}` };
  const conditions = listAt(node, 'status', 'conditions').filter(
    (condition) => textAt(condition, 'type') !== 'Ready',
  );
  const found = (isBad: (type: string, status: string | undefined) => boolean): string | undefined => {
    const changed = conditions.filter(
      (condition) =>
        isBad(textAt(condition, 'type') ?? '', textAt(condition, 'status')) &&
        isSince(parseTime(textAt(condition, 'lastTransitionTime')), since),
    );
    return changed.map((condition) => textAt(condition, 'type')).join(', ') || undefined;
  };
  const bad = found(isFaultStatus);
  if (bad !== undefined) return { result: 'Fail', because: `since the batch began its Node has ${bad}` };
  if (restarts.result === 'Fail') return restarts;
  const unknown = found((_, status) => status === 'Unknown');
  if (unknown !== undefined) return { result: 'Unknown', because: `of its Node is not known: ${unknown}` };
  return restarts;
}

/** A condition without a time may be new. */
function isSince(moment: Date | undefined, since: Date): boolean {
  return moment === undefined || moment >= since;
}
