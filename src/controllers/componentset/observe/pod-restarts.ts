/** Compares restarts of containers on a machine since its update ended with those before. Pure. */
import { parseTime } from '../../../api/machine/node-state.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Patrol } from '../machine/member-state.ts';

/** Holds the restarts of one Pod, all containers together. */
export interface PodRestarts {
  readonly uid: string;
  readonly name: string;
  readonly startedAt?: Date;
  /** Whether the Pod belongs to the machine: it is one of a DaemonSet, or a static one. */
  readonly isBound: boolean;
  readonly total: number;
  /** When each container that runs again ended the last time, by the clock of the machine. */
  readonly endedAt: readonly Date[];
}

/** Restarts of each Pod, by UID, when the update had ended. A Pod that is not in it had none. */
export type RestartBaselines = ReadonlyMap<string, number>;

/**
 * The number of restarts that fails a machine. One restart may be chance, and after a drain some containers start before what
 * they need. The kubelet restarts a container that cannot run for the third time after half a minute (at once, after 10 s, after
 * 20 s).
 */
export const RESTARTS_THAT_FAIL = 3;
const MAX_NAMES = 3;
const BINDING: ReadonlySet<string> = new Set(['DaemonSet', 'Node']);

export function podRestarts(pod: KubeObject): PodRestarts {
  const { uid = '', namespace = '', name } = pod.metadata;
  const statuses = ['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
    listAt(pod, 'status', list),
  );
  return {
    uid,
    name: `${namespace}/${name}`,
    ...optional('startedAt', parseTime(textAt(pod, 'status', 'startTime'))),
    isBound: listAt(pod, 'metadata', 'ownerReferences').some((owner) =>
      BINDING.has(textAt(owner, 'kind') ?? ''),
    ),
    total: statuses.reduce<number>((sum, status) => sum + restartsIn(status), 0),
    endedAt: statuses.flatMap(
      (status) => parseTime(textAt(status, 'lastState', 'terminated', 'finishedAt')) ?? [],
    ),
  };
}

function restartsIn(status: unknown): number {
  const count = valueAt(status, 'restartCount');
  return typeof count === 'number' ? count : 0;
}

/**
 * Returns how often each Pod had restarted when the update ended, as far as Pods themselves tell: of a container that restarted
 * since, one restart is certain.
 */
export function restartBaselines(pods: readonly PodRestarts[], since: Date): RestartBaselines {
  return new Map(pods.map((pod) => [pod.uid, restartsBefore(pod, since)]));
}

function restartsBefore({ startedAt, total, endedAt }: PodRestarts, since: Date): number {
  if (startedAt && startedAt >= since) return 0;
  return total - Math.min(total, endedAt.filter((ended) => ended >= since).length);
}

interface RestartedPod {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/**
 * Judges the restarts on a machine. A Pod that restarted as often before the update does not fail the machine, and is named.
 * Restarts that the update itself made do not count: those containers ended before it did, however late the kubelet reports them
 * after a reboot.
 */
export function judgeRestarts(
  pods: readonly PodRestarts[],
  baselines: RestartBaselines,
  since: Date,
): Patrol {
  const restarted = pods
    .filter((pod) => tellsOfMachine(pod, since))
    .map((pod) => restartedSince(pod, baselines))
    .filter(({ after }) => after > 0)
    .toSorted((a, b) => b.after - a.after || (a.name < b.name ? -1 : 1));
  const more = restarted.filter(({ before, after }) => after > before);
  const count = more.reduce((sum, { after }) => sum + after, 0);
  if (count >= RESTARTS_THAT_FAIL) {
    return {
      result: 'Fail',
      because: `containers restart more often than before the update: ${named(more)}`,
    };
  }
  const asBefore = restarted.filter(({ before, after }) => after <= before);
  return {
    result: 'Pass',
    because: 'no new problem',
    ...optional('asBefore', asBefore.length > 0 ? `restarts as before: ${named(asBefore)}` : undefined),
  };
}

/**
 * Tells whether restarts of the Pod show a problem of the machine. A Pod that came after the update may crash wherever it runs,
 * as it did before on another machine: it would roll back a good version.
 */
function tellsOfMachine({ isBound, startedAt, endedAt }: PodRestarts, since: Date): boolean {
  const wasThere = startedAt !== undefined && startedAt < since;
  return (isBound || wasThere) && endedAt.some((ended) => ended >= since);
}

function restartedSince({ uid, name, total }: PodRestarts, baselines: RestartBaselines): RestartedPod {
  const before = baselines.get(uid) ?? 0;
  return { name, before, after: total - before };
}

function named(pods: readonly RestartedPod[]): string {
  const shown = pods.slice(0, MAX_NAMES).map(({ name, after }) => `${name} (${after})`);
  const rest = pods.length - shown.length;
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}
