/** Finds the conditions of a hosted control plane. Pure. */
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import { addonsReady } from './addons/plan.ts';
import { backupReady } from './backups.ts';
import { certificatesValid } from './certificates.ts';
import { isApiServer, isEtcdMember, isRelay, type MemberReport, type PlaneMember } from './drivers/driver.ts';
import { countHeld } from './plan/api-servers/count.ts';
import { isApiServing } from './plan/api-servers/serving.ts';
import { inRotation } from './plan/create.ts';
import { etcdReports, isEtcdServing, learningWait } from './plan/etcd/quorum.ts';
import { etcdFull } from './plan/etcd/space.ts';
import { exposureWait } from './plan/exposure/exposure.ts';
import { isReachedOutside } from './plan/exposure/gateways.ts';
import type { HostingInput, HostingWait, Upgrade } from './plan/input.ts';
import { isRotationMoving } from './plan/rotation/state.ts';
import { changeHeld, pendingChanges } from './plan/upgrade/closed.ts';
import { controllersHeld } from './plan/upgrade/controllers.ts';
import { targetProblem } from './plan/upgrade/target.ts';
import { CLASS_DIFFERS, classDifference } from './storage-class.ts';

export function hostingConditions(
  input: HostingInput,
  wait: HostingWait | undefined,
): readonly ConditionUpdate[] {
  return [
    ready(input, wait),
    upToDate(input),
    etcdReady(input),
    certificatesValid(input),
    ...backupReady(input),
    addonsReady(input, wait),
    stalled(wait),
  ];
}

/** Finds the conditions of a control plane that cannot be observed; the others stay as they were. */
export function unobservedConditions(
  input: Pick<HostingInput, 'cluster' | 'now'>,
  wait: HostingWait,
): readonly ConditionUpdate[] {
  const { reason, message } = wait;
  const { cluster, now } = input;
  return [
    { type: 'ControlPlaneReady', status: 'Unknown', reason, message },
    ...backupReady({ cluster, now }),
    stalled(wait),
  ];
}

/** Whether everything answers that a new cluster needs to carry a machine to Ready. */
export function isPlaneReady({ plane, inside, secret, cluster }: HostingInput): boolean {
  return (
    cluster.metadata.deletionTimestamp === undefined &&
    isServing({ plane }) &&
    plane.members.every(({ member, state }) => isOneOfSeveral(member) || state === 'Ready') &&
    inside?.isInstalled === true &&
    inside.controllersLead &&
    secret === 'Current'
  );
}

function isServing(input: Pick<HostingInput, 'plane'>): boolean {
  return isEtcdServing(input) && isApiServing(input) && isReachedOutside(input);
}

/** Tells whether the control plane works while that member does not answer, as long as others do. */
function isOneOfSeveral(member: PlaneMember): boolean {
  return isEtcdMember(member) || isApiServer(member) || isRelay(member);
}

function ready(input: HostingInput, wait: HostingWait | undefined): ConditionUpdate {
  const type = 'ControlPlaneReady';
  if (isPlaneReady(input)) {
    const message = 'the API server answers, our controllers lead, and sync has a kubeconfig';
    return { type, status: 'True', reason: 'Ready', message };
  }
  if (input.cluster.metadata.deletionTimestamp !== undefined) {
    const message = wait?.message ?? 'the control plane is being removed';
    return { type, status: 'False', reason: 'Destroying', message };
  }
  const { reason = 'Creating', message = 'its next step is under way' } = wait ?? {};
  return { type, status: 'False', reason, message };
}

function upToDate(input: HostingInput): ConditionUpdate {
  const type = 'ControlPlaneUpToDate';
  const { plane, cluster } = input;
  const upgrade = cluster.status?.hosted?.upgrade;
  if (!plane.isPrepared) {
    return { type, status: 'Unknown', reason: 'NotCreated', message: 'the control plane is not created yet' };
  }
  if (upgrade) return { type, status: 'False', reason: 'Upgrading', message: upgradeText(upgrade) };
  const pending = pendingChanges(input);
  if (pending.length === 0) {
    return { type, status: 'True', reason: 'AsWanted', message: 'it runs with the settings of its spec' };
  }
  const { reason, message } = changeWait(input) ?? pendingChange(input, pending);
  return { type, status: 'False', reason, message };
}

/** A change of the spec waits for no other control plane. */
function changeWait(input: HostingInput): HostingWait | undefined {
  const found = targetProblem(input) ?? countHeld(input) ?? inRotation(input) ?? changeHeld(input);
  const held = found ?? exposureWait(input);
  return held ?? (input.plane.differences.length === 0 ? controllersHeld(input) : undefined);
}

/** Two changes of the same members at once would hide what failed. */
function pendingChange(
  input: HostingInput,
  pending: readonly string[],
): Pick<ConditionUpdate, 'reason' | 'message'> {
  const isRotating = isRotationMoving(input);
  const when = isRotating
    ? 'after this part of the rotation of the authorities'
    : 'when every member answers';
  const message = `the change begins ${when} (${pending.join('; ')})`;
  return { reason: isRotating ? 'Rotating' : 'ChangePending', message };
}

function upgradeText(upgrade: Upgrade): string {
  return `${changeText(upgrade)}: step ${upgrade.step}`;
}

function changeText({ from, to, controllers }: Upgrade): string {
  if (controllers !== undefined) return `our controllers to ${controllers}`;
  return from === to ? 'its flags and settings' : `${from} to ${to}`;
}

function etcdReady(input: HostingInput): ConditionUpdate {
  const type = 'EtcdReady';
  const full = etcdFull(input);
  if (full) return { type, status: 'False', ...full };
  const reports = etcdReports(input);
  const down = reports.find(({ state }) => state !== 'Ready');
  const problem = down ? silentText(down) : learningWait(input)?.message;
  const count = answersText(reports);
  if (problem === undefined) return { type, status: 'True', ...redundancy(input, count) };
  const message = reports.length === 1 ? problem : `${count}; ${problem}`;
  return { type, status: 'False', reason: isEtcdServing(input) ? 'MemberDown' : 'NotReady', message };
}

/** A person who reads the conditions of a cluster in prod has to learn that the only folder with its data must not be removed. Elsewhere one member is what is expected. */
function redundancy(input: HostingInput, count: string): Pick<ConditionUpdate, 'reason' | 'message'> {
  const difference = classDifference(input.plane, 'etcd');
  if (difference !== undefined) return { reason: CLASS_DIFFERS, message: `${count}; ${difference}` };
  const isSingle = etcdReports(input).length === 1 && input.cluster.spec.environment === 'prod';
  if (!isSingle) return { reason: 'Ready', message: count };
  return {
    reason: 'SingleMember',
    message: `${count}; it has the only copy of the data of a cluster in prod: schedule backups, or create it again with spec.hosted.etcd.replicas: 3`,
  };
}

function answersText(reports: readonly MemberReport[]): string {
  const answering = reports.filter(({ state }) => state === 'Ready').length;
  return `${answering} of ${reports.length} members answer${reports.length === 1 ? 's' : ''}`;
}

function silentText({ member, state }: MemberReport): string {
  return state === 'Starting' ? `${member} runs and does not answer` : `${member} does not run`;
}

function stalled(wait: HostingWait | undefined): ConditionUpdate {
  const type = 'ControlPlaneStalled';
  if (wait?.isStalled !== true) {
    return { type, status: 'False', reason: 'NotStalled', message: 'no person is needed' };
  }
  return { type, status: 'True', reason: wait.reason, message: `${wait.blocker.name}: ${wait.message}` };
}
