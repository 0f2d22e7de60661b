/** The acts of the driver on the members of an etcd that has several. Each can be repeated, and nothing is changed in an etcd that is being destroyed. */
import { listAt } from '../../../../../kube/objects/json.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { HostingError } from '../../../errors.ts';
import type { EtcdMember, ListedMember, PlaneDriver, PlaneOwner } from '../../driver.ts';
import { type EtcdAsking, type EtcdPlaces, listedMembers } from '../../etcd/membership.ts';
import { memberVolumeData } from '../data.ts';
import { requireKeysOf } from '../execute/keys.ts';
import { applyMember, memberNotPrepared, requireImage, type WorkloadParts } from '../execute/members.ts';
import { changeRecord } from '../execute/record.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { currentPod, isPodReady, podsOfMember } from '../members/pods.ts';
import { etcdMembersOf } from '../names.ts';
import { type WorkloadRecord, withInitialCluster, withNewMember, withSeal } from '../record.ts';
import { podPlaces } from './places.ts';

export type EtcdParts = WorkloadParts & { readonly asking: EtcdAsking };

/** A pod may take longer. The worker of the controller is not kept: the plan waits for the member, and asks for the act again. */
const SEALED_MS = 10_000;
const POLL_MS = 500;

type EtcdActs = Pick<PlaneDriver, 'addEtcdMember' | 'promoteEtcdMember' | 'removeEtcdMember'>;

export function createPodEtcdActs(parts: () => Promise<EtcdParts>): EtcdActs {
  return {
    addEtcdMember: async (plane, member) => onEtcd(plane, member, { ...(await parts()), work: add }),
    promoteEtcdMember: async (plane, member) => onEtcd(plane, member, { ...(await parts()), work: promote }),
    removeEtcdMember: async (plane, member) =>
      onEtcd(plane, member, { ...(await parts()), work: removeLost }),
  };
}

/** Returns the members as etcd lists them. Undefined: there is one, or no majority answers. */
export async function listEtcd(
  found: FoundPlane,
  { asking, now }: { readonly asking: EtcdAsking; readonly now: Date },
): Promise<readonly ListedMember[] | undefined> {
  if (etcdMembersOf(found.record).length === 1) return undefined;
  const places = podPlaces(found, now);
  const membership = places && (await asking.readMembership(places));
  return membership && listedMembers(places, membership);
}

interface EtcdPlace {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly places: EtcdPlaces;
  readonly member: EtcdMember;
  readonly parts: EtcdParts;
}

async function onEtcd(
  plane: PlaneOwner,
  member: EtcdMember,
  { work, ...parts }: EtcdParts & { readonly work: (place: EtcdPlace) => Promise<void> },
): Promise<void> {
  const found = await readHubPlane(parts.client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  const places = podPlaces(found, parts.clock.now());
  if (!record || !places) throw memberNotPrepared(found, member);
  if (record.isDestroying) return;
  requireKeysOf(found, record);
  await work({ found, record, places, member, parts });
}

/** The first member never begins an etcd again from the moment on at which others get its data. */
async function add(place: EtcdPlace): Promise<void> {
  const { found, places, member, parts } = place;
  const first = 'etcd';
  const image = requireImage(found, place.record, { ...parts, member: first });
  const sealed = await changeRecord(parts.client, found.owner, (current) => withSeal(current, image));
  if (member !== first) await restartSealed(place, first, sealed);
  await changeRecord(parts.client, found.owner, (current) => withNewMember(current, member));
  await parts.asking.addMember(places, member);
}

/** It is started again as one that never joins another etcd, while it does not count yet: so etcd does not wait for it. */
async function promote(place: EtcdPlace): Promise<void> {
  const { found, places, member, parts } = place;
  const after = await changeRecord(parts.client, found.owner, (current) =>
    withInitialCluster(current, member, undefined),
  );
  await restartSealed(place, member, after);
  const again = await readHubPlane(parts.client, found.owner);
  await parts.asking.promoteMember(podPlaces(again, parts.clock.now()) ?? places, member, parts.clock);
}

async function removeLost({ found, places, member, parts }: EtcdPlace): Promise<void> {
  const isRunning = podsOfMember(found.objects, member).length > 0;
  if (isRunning || memberVolumeData(found, member) !== 'Empty') {
    throw new HostingError('EtcdRefused', `${member} is not removed from etcd: it runs or has data`, {
      where: found.where,
      hint: 'nothing to do: hosting observes it again',
    });
  }
  await parts.asking.removeMember(places, member);
}

/** Waits until a pod answers that was made from what is recorded: until then the former one may end. */
async function restartSealed(
  { found, parts }: EtcdPlace,
  member: EtcdMember,
  record: WorkloadRecord,
): Promise<void> {
  if (isSealedIn(found, member)) return;
  await applyMember(found, record, { ...parts, member });
  const { client, clock } = parts;
  const isDone = async (): Promise<boolean> => isSealedIn(await readHubPlane(client, found.owner), member);
  const deadlineMs = clock.monotonicMs() + SEALED_MS;
  if (await pollUntil(isDone, { clock, everyMs: POLL_MS, deadlineMs })) return;
  throw new HostingError('MemberRestarting', `${member} does not answer yet after its flags were changed`, {
    where: found.where,
    hint: 'look at its log if this lasts; hosting tries again',
  });
}

/** Tells whether the pod that answers neither begins an etcd nor joins one. */
function isSealedIn({ objects }: FoundPlane, member: EtcdMember): boolean {
  const pod = currentPod(podsOfMember(objects, member));
  const args = pod ? listAt(pod, 'spec', 'containers', 0, 'args').map(String) : [];
  const cluster = args.find((arg) => arg.startsWith('--initial-cluster='));
  return (
    pod !== undefined &&
    isPodReady(pod) &&
    args.includes('--initial-cluster-state=existing') &&
    cluster?.includes(',') === false
  );
}
