/**
 * Holds changes of a control plane that runs, outside of its windows and during its freezes. Creation, repair, what is in work and a
 * rollback are not held. Pure.
 */
import { digestOf } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Limit } from '../../../../rollout/limit.ts';
import { closedLimit } from '../../../../rollout/maintenance-windows.ts';
import type { Hosted, HostedStatus, HostingInput, HostingWait } from '../input.ts';
import { wait } from '../wait.ts';
import { targetDigest, targetOf } from './target.ts';

type ClosedTimes = NonNullable<HostedStatus['closedTimes']>;
type ClosedInput = Pick<HostingInput, 'cluster' | 'hosted' | 'plane' | 'now'>;

/** Returns until when the control plane is not changed to its spec. Undefined: a change may begin, or nothing is to be changed. */
export function changeHeld(input: ClosedInput): HostingWait | undefined {
  const { plane, cluster } = input;
  const isChanging = cluster.status?.hosted?.upgrade !== undefined;
  if (plane.differences.length === 0 || isChanging || isReturn(input)) return undefined;
  return closedWait(input, `the change is held (${plane.differences.join('; ')})`);
}

/** Returns until when nothing is begun. Undefined: a change may begin now. */
export function closedWait(input: ClosedInput, what: string): HostingWait | undefined {
  const { hosted, now, cluster } = input;
  const { windows, freezes } = closedTimes(input);
  const limit = laterLimit(closedLimit(declaredTimes(hosted), now), closedLimit({ windows, freezes }, now));
  if (!limit) return undefined;
  const stalled = limit.reason === 'InvalidWindow' ? 'stalled' : undefined;
  return wait(limit.reason, `${what}: ${limit.because}`, ['Cluster', cluster.metadata.name], stalled);
}

/**
 * Returns the closed times that were in force before the spec got its version, flags and add-ons, for the status. A commit that changes both
 * the control plane and its closed times is held by the former ones, too; a later commit that changes only the closed times is not.
 */
export function closedTimes(input: Pick<HostingInput, 'cluster' | 'hosted' | 'plane'>): ClosedTimes {
  const { cluster, hosted } = input;
  const before = cluster.status?.hosted?.closedTimes;
  const { generation } = cluster.metadata;
  if (before && before.generation === generation) return before;
  const target = digestOf([targetDigest(targetOf(input)), hosted.addons]);
  const isSameCommit = before !== undefined && before.target !== target;
  const { windows, freezes } = isSameCommit ? before : declaredTimes(hosted);
  return { ...optional('generation', generation), target, windows, freezes };
}

/** Both are absent where the hub was installed by an older version. */
function declaredTimes({ upgrade }: Hosted): Pick<ClosedTimes, 'windows' | 'freezes'> {
  return { windows: upgrade.windows ?? [], freezes: upgrade.freezes ?? [] };
}

/** The former version is not held while it can be had again, as a rollback of machines is not. */
function isReturn({ plane, hosted, cluster }: ClosedInput): boolean {
  const { rollbackPossible, rollbackVersion } = cluster.status?.hosted ?? {};
  const isOnlyVersion = plane.differences.every((text) => text.startsWith('version '));
  return rollbackPossible === true && rollbackVersion === hosted.version && isOnlyVersion;
}

function laterLimit(one: Limit | undefined, other: Limit | undefined): Limit | undefined {
  if (!one || !other) return one ?? other;
  const isEarlier = one.until !== undefined && (other.until === undefined || other.until > one.until);
  return isEarlier ? other : one;
}
