/** Starts and stops the members of a control plane. What is to run is recorded before it is started. */
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import { PODS } from '../../../../../kube/objects/core-kinds.ts';
import { valueAt } from '../../../../../kube/objects/json.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { HostingError } from '../../../errors.ts';
import {
  type EtcdMember,
  isApiServer,
  isEtcdMember,
  type MemberRun,
  type PlaneMember,
  type PlaneOwner,
  type PlaneSpec,
} from '../../driver.ts';
import type { EtcdAsking } from '../../etcd/membership.ts';
import { addressesOf, serviceAddresses } from '../access.ts';
import { isWiped, memberVolumeData, requireData } from '../data.ts';
import { podPlaces } from '../etcd/places.ts';
import { claimOfVolume, type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { imageFor, type WorkloadImages } from '../images.ts';
import { remainingPods } from '../members/pods.ts';
import { etcdMembersOf, isWorkloadMember, planeNamespace, type WorkloadMember } from '../names.ts';
import { memberWorkload, workloadResource } from '../objects/workloads.ts';
import {
  type WorkloadRecord,
  withAddresses,
  withInitialCluster,
  withLoss,
  withSeal,
  withStart,
  withStop,
} from '../record.ts';
import { recordedRun, runDigest, runningRecord } from '../runs.ts';
import { requireKeysOf } from './keys.ts';
import { AS_HOSTING, changeRecord } from './record.ts';

export interface WorkloadParts {
  readonly client: Client;
  readonly clock: Clock;
  /** Undefined: they could not be read. */
  readonly images: WorkloadImages | undefined;
  readonly asking: EtcdAsking;
}

/** A pod has ten seconds to end, and its node tells the hub a moment later. */
const STOP_MS = 25_000;
const POLL_MS = 200;

export async function startMember(
  plane: PlaneSpec,
  member: PlaneMember,
  parts: WorkloadParts,
): Promise<void> {
  const { client, clock } = parts;
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  if (!isWorkloadMember(member) || !record) throw memberNotPrepared(found, member);
  if (record.isDestroying) return;
  requireKeysOf(found, record);
  requireData(found, member);
  if (isStarted(found, record, member)) return;
  if (isApiServer(member)) await sealEtcd(found, record, parts);
  const at = clock.now();
  const image = requireImage(found, record, { ...parts, member });
  const joins = isEtcdMember(member) ? await joinedCluster(found, member, parts) : undefined;
  const after = await changeRecord(client, plane, (current) => {
    const known = withAddresses(current, serviceAddresses(found.objects));
    const started = withStart(known, member, { at, image });
    return isEtcdMember(member) && joins !== undefined ? withInitialCluster(started, member, joins) : started;
  });
  if (!after.isDestroying) await applyMember(found, after, { ...parts, member });
}

/** Resolves to the members that one without data joins. The first one begins the etcd, and only while no other one has data. */
async function joinedCluster(
  found: FoundPlane,
  member: EtcdMember,
  { asking, clock }: WorkloadParts,
): Promise<string | undefined> {
  const { record } = found;
  if (etcdMembersOf(record).length === 1 || memberVolumeData(found, member) !== 'Empty') return undefined;
  if (member === 'etcd' && record?.isSealed !== true) return undefined;
  const places = podPlaces(found, clock.now());
  if (!places) throw memberNotPrepared(found, member);
  return await asking.joiningCluster(places, member);
}

function isStarted(found: FoundPlane, record: WorkloadRecord, member: WorkloadMember): boolean {
  return record.members[member]?.isRunning === true && isDesired(found, member);
}

/** Tells whether the hub is to run a pod of the member. */
export function isDesired({ objects }: FoundPlane, member: WorkloadMember): boolean {
  const workload = objects.workloads.get(member);
  return workload !== undefined && valueAt(workload, 'spec', 'replicas') !== 0;
}

/**
 * From the first start of an API server on etcd has data. It is started again once, as one that never begins without. It serves no client
 * yet, and the API server waits for it.
 */
async function sealEtcd(found: FoundPlane, record: WorkloadRecord, parts: WorkloadParts): Promise<void> {
  if (record.isSealed && isSealedPod(found)) return;
  const image = requireImage(found, record, { ...parts, member: 'etcd' });
  const sealed = await changeRecord(parts.client, found.owner, (current) => withSeal(current, image));
  if (isDesired(found, 'etcd')) await applyMember(found, sealed, { ...parts, member: 'etcd' });
}

function isSealedPod({ objects }: FoundPlane): boolean {
  const args = valueAt(objects.workloads.get('etcd'), 'spec', 'template', 'spec', 'containers', 0, 'args');
  return Array.isArray(args) && args.includes('--initial-cluster-state=existing');
}

type MemberParts = WorkloadParts & { readonly member: WorkloadMember };

/** Writes the workload of a member as it is recorded. */
export async function applyMember(
  found: FoundPlane,
  record: WorkloadRecord,
  parts: MemberParts,
): Promise<void> {
  const { client, images, member } = parts;
  const addresses = addressesOf(found);
  const image = record.members[member]?.image;
  if (!images || !addresses || image === undefined) throw memberNotPrepared(found, member);
  const object = memberWorkload(member, {
    plane: runningRecord(record, member),
    addresses,
    image,
    priorityClass: images.priorityClass,
    ...optional('version', recordedRun(record, member)?.version),
    run: runDigest(recordedRun(record, member), image, record.members[member]?.phase),
  });
  await client.apply(workloadResource(member), object, { ...AS_HOSTING, force: true });
}

/** Returns the image that the member is to run. Throws where the file of images does not name one. */
export function requireImage(
  found: FoundPlane,
  record: WorkloadRecord,
  { images, member }: Pick<MemberParts, 'images' | 'member'>,
  run: MemberRun = recordedRun(record, member) ?? NOTHING_CHOSEN,
): string {
  const image = images && imageFor(images, member, { run, version: record.version });
  if (image === undefined) throw memberNotPrepared(found, member);
  return image;
}

const NOTHING_CHOSEN: MemberRun = { flags: {} };

export async function stopMember(
  plane: PlaneOwner,
  member: PlaneMember,
  { client, clock }: Pick<WorkloadParts, 'client' | 'clock'>,
): Promise<void> {
  const found = await readHubPlane(client, plane);
  if (found.claim === 'None') return;
  requireOwnNamespace(found);
  if (!isWorkloadMember(member) || !found.record) return;
  await changeRecord(client, plane, (current) => withStop(withLossOf(found, current, member), member));
  await scaleMember(client, plane, { member, replicas: 0 });
  const hasEnded = async (): Promise<boolean> => (await podsLeft(client, found, member)).length === 0;
  const deadlineMs = clock.monotonicMs() + STOP_MS;
  if (await pollUntil(hasEnded, { clock, everyMs: POLL_MS, deadlineMs })) return;
  throw notStopped(found, await podsLeft(client, found, member));
}

/** Only the pod that is stopped shows that the volume behind its claim was emptied. */
function withLossOf(found: FoundPlane, current: WorkloadRecord, member: WorkloadMember): WorkloadRecord {
  if (!isEtcdMember(member) || etcdMembersOf(found.record).length === 1) return current;
  if (!isWiped(found, member)) return current;
  return withLoss(current, member, claimOfVolume(found, member)?.metadata.uid);
}

export async function scaleMember(
  client: Client,
  { name }: PlaneOwner,
  { member, replicas }: { readonly member: WorkloadMember; readonly replicas: 0 | 1 },
): Promise<void> {
  const body = { spec: { replicas } };
  const at = { name: member, namespace: planeNamespace(name) };
  try {
    await client.patch(workloadResource(member), at, { type: 'merge', body }, AS_HOSTING);
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
}

async function podsLeft(
  client: Client,
  found: FoundPlane,
  member: WorkloadMember,
): Promise<readonly string[]> {
  const { items } = await client.list(PODS, { namespace: planeNamespace(found.owner.name) });
  return remainingPods({ ...found.objects, pods: items }, member).map(({ metadata }) => metadata.name);
}

export function notStopped({ where }: Pick<FoundPlane, 'where'>, pods: readonly string[]): HostingError {
  return new HostingError('NotStopped', `pods in ${where} have not ended: ${pods.join(', ')}`, {
    where,
    hint: 'look at their nodes; a pod of a node that is away for good can be deleted with --force',
  });
}

export function memberNotPrepared({ where }: FoundPlane, member: PlaneMember): HostingError {
  return new HostingError('NotPrepared', `${member} cannot be started: it is not prepared, or has no image`, {
    where,
    hint: 'nothing to do: hosting prepares it first',
  });
}
