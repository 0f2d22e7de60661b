/** Carries out the act that was decided, as kubenode-hosting. What blocks it comes back as a wait; every other error is thrown. */
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import {
  ANNOTATION_SECRET_USE,
  ANNOTATION_WRITTEN_AT,
  EVENT_PREFIX,
  FINALIZER_HOSTING,
  kubeconfigSecret,
  LABEL_CLUSTER,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_HOSTING,
  NAMESPACE,
} from '../../../api/names.ts';
import type { SecretUse } from '../../../api/secrets/references.ts';
import type { Intent } from '../../../kube/controller/intent.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import { messageOf, OsError } from '../../../os/errors.ts';
import { ADDON } from '../addons/plan.ts';
import type { EtcdMember, PlaneDriver, PlaneSpec } from '../drivers/driver.ts';
import { HostingError } from '../errors.ts';
import type { HostingObservation, HostingParts, HostingPorts } from '../observe.ts';
import { isUpkeep, type UpkeepAct } from '../plan/etcd/backup.ts';
import { ENDPOINT_BLOCKER, outsideEndpoint } from '../plan/exposure/endpoint.ts';
import { outsideText } from '../plan/exposure/outside.ts';
import type { EtcdAct, HostingAct, HostingWait, SimpleAct } from '../plan/input.ts';
import { knownOrders } from '../plan/rotation/publish.ts';
import { wait, withHint } from '../plan/wait.ts';
import { permissionWait } from './permission.ts';
import type { UpkeepTask } from './upkeep.ts';

/** Resolves to what blocked the act. */
export async function carryOutHosting(
  act: HostingAct,
  observation: HostingObservation,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<HostingWait | undefined> {
  const subject = subjectOf(act);
  const what = subject === undefined ? act.type : `${act.type} ${subject}`;
  const denied = await permissionWait(act, observation.plane.name, { grants: ports.grants, context });
  if (denied) return denied;
  context.log.info('hosting acts', { act: what, because: act.because });
  tell(act, observation.input.cluster, context);
  try {
    await perform(act, observation, ports, context);
    return undefined;
  } catch (error) {
    if (isAddonAct(act)) return addonBlocked(error, addonOf(act), context);
    if (act.type === 'PublishEndpoint') return endpointRefused(error, context);
    if (act.type === 'Shrink') return shrinkFailed(error, context);
    return blockedBy(error, what, context);
  }
}

/** A policy of the cluster may refuse it, and the cluster serves all others without it. */
function endpointRefused(error: unknown, { signal, log }: ReconcileContext): HostingWait {
  signal.throwIfAborted();
  const message = `the endpoint of the Service kubernetes could not be changed, which is tried again: ${messageOf(error)}`;
  log.warn('endpoint is refused', { reason: message });
  return wait('EndpointRefused', message, ENDPOINT_BLOCKER);
}

/** A failure is recorded and reported by a condition, and nothing waits for it. */
function shrinkFailed(error: unknown, { log }: Pick<ReconcileContext, 'log'>): undefined {
  if (!(error instanceof OsError)) throw error;
  log.warn('upkeep of etcd failed', { act: 'Shrink', reason: error.message });
}

/** These errors need no person: the hub is still working, and is asked again. */
const IN_WORK: readonly string[] = ['SnapshotRunning', 'RestoreRunning', 'MemberRestarting'];

/** Returns the wait for what blocks hosting until a person or time helps. Throws every other error again. */
export function blockedBy(error: unknown, what: string, { log }: Pick<ReconcileContext, 'log'>): HostingWait {
  if (!(error instanceof OsError)) throw error;
  const { code, message, hint, where = '' } = error as OsError;
  const text = hint === undefined ? message : `${message}: ${hint}`;
  const about = [blockerKind(code, where), where || what] as const;
  if (IN_WORK.includes(code)) return wait(code, text, about);
  log.warn('hosting is blocked', { act: what, code, reason: message });
  return wait(code, text, about, 'stalled');
}

function blockerKind(code: string, where: string): string {
  if (where.startsWith('namespace ')) return 'Namespace';
  if (code === 'DriverNotConfigured') return 'Cluster';
  return code === 'PortInUse' || code === 'PortNotAllowed' ? 'Port' : 'File';
}

async function perform(
  act: HostingAct,
  observation: HostingObservation,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<void> {
  const { plane, access, driver } = observation;
  const { inside } = ports;
  if ('member' in act) await performOnMember(act, plane, driver);
  else if (isOnData(act)) await performOnData(act, plane, driver);
  else if (isUpkeep(act)) beginUpkeep(act, observation, ports, context);
  else if (isAddonAct(act)) await performOnAddon(act, observation, ports, context);
  else if (act.type === 'ScaleDown') {
    if (access) await inside.scaleDown(access.admin, act.machineSets, context.signal);
  } else if (!isOnlyStatus(act)) await SIMPLE[act.type](observation, ports, context);
}

type DataAct = Extract<
  HostingAct,
  { readonly type: 'Settle' | 'SetApiServers' | 'SetOutside' | 'Restore' | 'Shrink' | 'Rotate' }
>;

function isOnData(act: HostingAct): act is DataAct {
  return ['Settle', 'SetApiServers', 'SetOutside', 'Restore', 'Shrink', 'Rotate'].includes(act.type);
}

async function performOnData(act: DataAct, plane: PlaneSpec, driver: PlaneDriver): Promise<void> {
  if (act.type === 'Settle') await driver.settle(plane, act.settled);
  else if (isOnPlace(act)) await performOnPlace(act, plane, driver);
  else if (act.type === 'Restore') await driver.backups?.restore(plane, act.from);
  else if (act.type === 'Rotate') await driver.rotate?.(plane, act.step);
  else await driver.shrink?.(plane);
}

type PlaceAct = Extract<DataAct, { readonly type: 'SetApiServers' | 'SetOutside' }>;

function isOnPlace(act: DataAct): act is PlaceAct {
  return act.type === 'SetApiServers' || act.type === 'SetOutside';
}

async function performOnPlace(act: PlaceAct, plane: PlaneSpec, driver: PlaneDriver): Promise<void> {
  if (act.type === 'SetApiServers') await driver.setApiServers(plane, act.count);
  else await driver.setOutside?.(plane, act.outside);
}

/** It may take as long as the database is large, and every other act goes on meanwhile. */
function beginUpkeep(
  act: UpkeepAct,
  { plane, input, driver: { backups } }: HostingObservation,
  { upkeep }: Pick<HostingParts, 'upkeep'>,
  { log }: Pick<ReconcileContext, 'log'>,
): void {
  if (!backups) return;
  const work: UpkeepTask['work'] = (control) =>
    act.type === 'Backup' ? backups.take(plane, act.options, control) : backups.drill(plane, control);
  upkeep.begin(plane, { type: act.type, startedAt: input.now, work, log });
}

export async function performOnMember(
  act: Extract<HostingAct, { readonly member: unknown }>,
  plane: PlaneSpec,
  driver: PlaneDriver,
): Promise<void> {
  if (isEtcdAct(act)) await ETCD_ACTS[act.type](driver, plane, act.member);
  else if (act.type === 'Change') await driver.change(plane, act.member, act.run);
  else if (act.type === 'Correct') await driver.correct?.(plane, act.member);
  else if (act.type === 'Start') await driver.start(plane, act.member);
  else if (act.type === 'Restart') await driver.restart?.(plane, act.member);
  else await driver.stop(plane, act.member);
}

type MemberOfEtcdAct = Extract<HostingAct, { readonly type: EtcdAct }>;

const ETCD_ACTS: Readonly<
  Record<EtcdAct, (driver: PlaneDriver, plane: PlaneSpec, member: EtcdMember) => Promise<void>>
> = {
  AddEtcdMember: (driver, plane, member) => driver.addEtcdMember(plane, member),
  PromoteEtcdMember: (driver, plane, member) => driver.promoteEtcdMember(plane, member),
  RemoveEtcdMember: (driver, plane, member) => driver.removeEtcdMember(plane, member),
};

function isEtcdAct(act: HostingAct): act is MemberOfEtcdAct {
  return Object.hasOwn(ETCD_ACTS, act.type);
}

type AddonAct = Extract<HostingAct, { readonly type: 'ApplyAddon' | 'RemoveAddon' }>;

function isAddonAct(act: HostingAct): act is AddonAct {
  return act.type === 'ApplyAddon' || act.type === 'RemoveAddon';
}

async function performOnAddon(
  act: AddonAct,
  { access, plane, input }: HostingObservation,
  { addons }: HostingPorts,
  { signal }: ReconcileContext,
): Promise<void> {
  if (!access) return;
  const target = { owner: plane, kubeconfig: access.admin, declared: input.hosted.addons, signal };
  if (act.type === 'ApplyAddon') await addons.apply(target, act.addon);
  else await addons.remove(target, act.name);
}

/** The control plane itself is not stalled: the wait names the add-on, and AddonsReady has it. */
function addonBlocked(error: unknown, name: string, { log }: Pick<ReconcileContext, 'log'>): HostingWait {
  if (!(error instanceof HostingError)) throw error;
  const { code, message, hint } = error;
  log.warn('add-on is blocked', { addon: name, code, reason: message });
  return wait(code, hint === undefined ? message : withHint(message, hint), [ADDON, name]);
}

function addonOf(act: AddonAct): string {
  return act.type === 'ApplyAddon' ? act.addon.name : act.name;
}

type StatusAct = Extract<HostingAct, { readonly upgrade: unknown }>;

/** Tells whether the act is part of the status that is reported after it. */
function isOnlyStatus(act: HostingAct): act is StatusAct {
  return 'upgrade' in act;
}

type Perform = (
  observation: HostingObservation,
  ports: HostingParts,
  context: ReconcileContext,
) => Promise<unknown>;

const SIMPLE: Readonly<Record<SimpleAct, Perform>> = {
  AddFinalizer: ({ input }, _, context) => context.addFinalizer(CLUSTERS, input.cluster, FINALIZER_HOSTING),
  RemoveFinalizer: async ({ input, plane, driver }, { upkeep }, context) => {
    await upkeep.end(plane.name);
    // A preparation that was killed leaves an empty folder.
    if (input.plane.claim === 'None') await driver.remove(plane);
    await context.removeFinalizer(CLUSTERS, input.cluster, FINALIZER_HOSTING);
  },
  DeleteCluster: ({ input }, _, context) => context.delete(CLUSTERS, input.cluster),
  // It is part of the status that is reported after the act.
  RecordLocation: async () => undefined,
  Prepare: ({ plane, driver }) => driver.prepare(plane),
  BeginDestroy: async ({ plane, driver }, { upkeep }) => {
    await upkeep.end(plane.name);
    await driver.beginDestroy(plane);
  },
  Remove: ({ plane, driver }) => driver.remove(plane),
  Snapshot: ({ plane, driver }, _, { signal }) => driver.snapshot(plane, signal),
  Install: async ({ access }, { inside }, { signal }) => {
    if (access) await inside.install(access.admin, signal);
  },
  PublishAuthorities: async ({ plane, access, driver, input }, { inside }, { signal }) => {
    const signed = await driver.signAuthorities?.(plane, knownOrders(input));
    if (signed && access) await inside.publish(access.admin, signed, signal);
  },
  PublishEndpoint: async ({ access, input }, { inside }, { signal }) => {
    if (access) await inside.setEndpoint(access.admin, outsideEndpoint(input.plane.outside), signal);
  },
  SettleGrant: async ({ input: { grant } }, { grants }) => {
    if (grant) await grants.settle([{ ...grant, outcome: 'Succeeded' }]);
  },
  WriteSecret: async ({ access, plane }, _, context) => {
    if (access) await context.apply(SECRETS, secretOf(plane.name, access.sync, context.clock.now()));
  },
  DeleteSecret: async ({ plane }, _, context) => {
    const secret = context.view(SECRETS).get(`${NAMESPACE}/${kubeconfigSecret(plane.name)}`);
    if (secret) await context.delete(SECRETS, secret);
  },
};

const USE: SecretUse = 'kubeconfig';

function secretOf(cluster: string, kubeconfig: string, now: Date): Intent {
  return {
    metadata: {
      name: kubeconfigSecret(cluster),
      namespace: NAMESPACE,
      labels: { [LABEL_MANAGED_BY]: MANAGED_BY, [LABEL_CLUSTER]: cluster },
      annotations: { [ANNOTATION_SECRET_USE]: USE, [ANNOTATION_WRITTEN_AT]: now.toISOString() },
    },
    type: 'Opaque',
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  };
}

/** The words of Events: a control plane that was taken away, and why, is what people look for later. */
const TOLD: Partial<Record<HostingAct['type'], string>> = {
  DeleteCluster: 'Expired',
  BeginDestroy: 'DestroyBegun',
  RemoveFinalizer: 'Released',
  Stop: 'MemberStopped',
  Restart: 'MemberRestarted',
  Change: 'MemberChanged',
  Correct: 'MemberCorrected',
  SetApiServers: 'ApiServersCounted',
  SetOutside: 'ExposureChanged',
  PublishEndpoint: 'EndpointChanged',
  AddEtcdMember: 'EtcdMemberAdded',
  PromoteEtcdMember: 'EtcdMemberPromoted',
  RemoveEtcdMember: 'EtcdMemberRemoved',
  Snapshot: 'SnapshotBegun',
  Restore: 'RestoreBegun',
  Shrink: 'EtcdDefragmented',
  Settle: 'PointOfNoReturn',
  Rotate: 'AuthoritiesRotated',
  ApplyAddon: 'AddonApplied',
  RemoveAddon: 'AddonRemoved',
  RecordStep: 'UpgradeStep',
  FinishUpgrade: 'UpgradeFinished',
};

function tell(act: HostingAct, cluster: Cluster, context: ReconcileContext): void {
  const word = TOLD[act.type];
  if (word === undefined) return;
  const note = subjectOf(act) === undefined ? act.because : `${subjectOf(act)}: ${act.because}`;
  context.event(cluster, {
    type: 'Normal',
    reason: `${EVENT_PREFIX[MANAGER_HOSTING]}${word}`,
    action: act.type,
    note,
  });
}

function subjectOf(act: HostingAct): string | undefined {
  if ('member' in act) return act.member;
  if (isAddonAct(act)) return addonOf(act);
  if (act.type === 'SetApiServers') return String(act.count);
  if (act.type === 'SetOutside') return outsideText(act.outside);
  if (act.type === 'RecordStep') return act.upgrade.step;
  if (act.type === 'Rotate') return act.step.phase;
  return act.type === 'FinishUpgrade' ? act.result : undefined;
}
