/**
 * Holds changes of a control plane that runs, outside of its windows and during its freezes. Creation, repair, what is in work and a
 * rollback are not held. Pure.
 */
import { digestOf } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { judgedLimit, strictestTimes } from '../../../../rollout/closed-times.ts';
import type { ClosedTimes } from '../../../../rollout/maintenance-windows.ts';
import { areAsDeclared } from '../../addons/declared.ts';
import { countDifference } from '../api-servers/count.ts';
import { exposureDifference } from '../exposure/exposure.ts';
import { outsideOf } from '../exposure/outside.ts';
import type { Hosted, HostedStatus, HostingInput, HostingWait } from '../input.ts';
import { wait } from '../wait.ts';
import { controllersDifference } from './controllers.ts';
import { specTarget, targetDigest } from './target.ts';

type TimesInForce = NonNullable<HostedStatus['closedTimes']>;
type ClosedInput = Pick<HostingInput, 'cluster' | 'hosted' | 'plane' | 'addons' | 'now'>;

/** Returns until when the control plane is not changed to its spec. Undefined: a change may begin, or nothing is to be changed. */
export function changeHeld(input: ClosedInput): HostingWait | undefined {
  const { cluster } = input;
  const isChanging = cluster.status?.hosted?.upgrade !== undefined;
  const pending = pendingChanges(input);
  if (pending.length === 0 || isChanging || isReturn(input)) return undefined;
  return closedWait(input, `the change is held (${pending.join('; ')})`);
}

/** Returns what is to be changed: `version v1.35.4, not v1.36.3`, `replicas is 1, not 2`. */
export function pendingChanges(input: Pick<HostingInput, 'plane' | 'hosted'>): readonly string[] {
  const others = [countDifference(input), exposureDifference(input), controllersDifference(input)];
  return [...input.plane.differences, ...others.filter((text) => text !== undefined)];
}

/** Returns until when nothing is begun. Undefined: a change may begin now. */
export function closedWait(input: ClosedInput, what: string): HostingWait | undefined {
  const { hosted, now, cluster } = input;
  const limit = judgedLimit(declaredTimes(hosted), closedTimes(input), now, 'control plane');
  if (!limit) return undefined;
  const stalled = limit.reason === 'InvalidWindow' ? 'stalled' : undefined;
  return wait(limit.reason, `${what}: ${limit.because}`, ['Cluster', cluster.metadata.name], stalled);
}

/** Differs after a change that closed times hold. What a Cluster does not have is left out: its digest stays that of former versions of hosting. */
function changeDigest(input: Omit<ClosedInput, 'now'>): string {
  const { replicas, addons, pki } = input.hosted;
  const several = replicas === 1 ? [] : [replicas];
  const rotation = pki.caRotation ? [pki.caRotation] : [];
  const outside = outsideOf(input.hosted);
  const exposed = outside ? [outside] : [];
  return digestOf([targetDigest(specTarget(input)), addons, ...several, ...rotation, ...exposed]);
}

/**
 * Returns the closed times in force, for the status. A commit that changes both the control plane and its closed times is held by the former
 * ones, too, until it is carried out, or until a commit changes only the closed times.
 */
export function closedTimes(input: Omit<ClosedInput, 'now'>): TimesInForce {
  const { cluster, hosted } = input;
  const before = cluster.status?.hosted?.closedTimes;
  const { generation } = cluster.metadata;
  const target = changeDigest(input);
  const declared = declaredTimes(hosted);
  const record = { ...optional('generation', generation), target };
  if (!before || isCarriedOut(input)) return { ...record, ...declared };
  if (before.generation === generation) return before;
  return { ...record, ...(before.target === target ? declared : strictestTimes(before, declared)) };
}

/** Tells whether nothing of the spec is left to begin. Unknown: false. */
function isCarriedOut({ plane, hosted, addons, cluster }: Omit<ClosedInput, 'now'>): boolean {
  const isSettled = plane.settled !== undefined && pendingChanges({ plane, hosted }).length === 0;
  const isChanging = cluster.status?.hosted?.upgrade !== undefined;
  const areAddonsDone = addons !== undefined && areAsDeclared(addons, hosted.addons);
  return isSettled && !isChanging && areAddonsDone && isRotationDone({ plane, hosted });
}

/** Tells whether the authorities are as the spec asks for. One that it completes, and this control plane never began, asks for nothing. */
function isRotationDone({ plane, hosted }: Pick<ClosedInput, 'plane' | 'hosted'>): boolean {
  const { caRotation } = hosted.pki;
  const { rotation } = plane;
  if (!caRotation) return rotation === undefined || rotation.phase === 'Completed';
  if (rotation?.id !== caRotation.id) return caRotation.target === 'Complete' && rotation === undefined;
  return rotation.phase === 'Completed' || (caRotation.target === 'Prepare' && rotation.phase === 'IssueNew');
}

/** Both are absent where the hub was installed by an older version. */
function declaredTimes({ upgrade }: Hosted): ClosedTimes {
  return { windows: upgrade.windows ?? [], freezes: upgrade.freezes ?? [] };
}

/** The former version is not held while it can be had again, as a rollback of machines is not. */
function isReturn({ plane, hosted, cluster }: ClosedInput): boolean {
  const { rollbackPossible, rollbackVersion } = cluster.status?.hosted ?? {};
  const isOnlyVersion =
    countDifference({ plane, hosted }) === undefined &&
    exposureDifference({ plane, hosted }) === undefined &&
    plane.differences.every((text) => text.startsWith('version '));
  return rollbackPossible === true && rollbackVersion === hosted.version && isOnlyVersion;
}
