/** Changes what members run with, and makes one that was edited what was recorded for it. What is to run is recorded before the hub is asked for it. */
import {
  type ChangeableMember,
  type MemberRun,
  OWN_CONTROLLERS,
  type PlaneMember,
  type PlaneOwner,
  type SettledPlane,
} from '../../driver.ts';
import { requireData } from '../data.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { programDrift, workloadDrift, workloadImage, workloadRun } from '../members/templates.ts';
import { isWorkloadMember, type WorkloadMember } from '../names.ts';
import {
  type WorkloadRecord,
  withCorrectedStart,
  withRestart,
  withRun,
  withRunning,
  withSettled,
} from '../record.ts';
import { recordedDigest } from '../runs.ts';
import { requireKeysOf } from './keys.ts';
import {
  applyMember,
  isDesired,
  memberNotPrepared,
  requireImage,
  scaleMember,
  type WorkloadParts,
} from './members.ts';
import { changeRecord } from './record.ts';

interface ChangePlace {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly member: WorkloadMember;
}

/** The pod is replaced by the hub: of the API server the next one serves before the former one ends. */
export async function changeMember(
  plane: PlaneOwner,
  { member, run }: { readonly member: ChangeableMember; readonly run: MemberRun },
  parts: WorkloadParts,
): Promise<void> {
  const place = await openMember(plane, member, parts);
  if (!place) return;
  const { found, record } = place;
  const image = requireImage(found, record, { ...parts, member: place.member }, run);
  const change = {
    run,
    image,
    at: parts.clock.now(),
    controllers: workloadImage(found.objects.workloads.get(OWN_CONTROLLERS)),
  };
  const after = await changeRecord(parts.client, plane, (current) => {
    if (current.isDestroying) return current;
    return withRun(knownRunning(current, place), place.member, change);
  });
  await applyChanged(place, after, parts);
}

/** Hosting may have been killed before it stopped a member that is recorded as stopped. */
function knownRunning(record: WorkloadRecord, { found, member }: ChangePlace): WorkloadRecord {
  return isDesired(found, member) ? withRunning(record, member) : record;
}

async function applyChanged(
  { found, member }: ChangePlace,
  after: WorkloadRecord,
  parts: WorkloadParts,
): Promise<void> {
  const isRunning = !after.isDestroying && after.members[member]?.isRunning === true;
  if (isRunning && !isWritten(found, after, member)) await applyMember(found, after, { ...parts, member });
}

/** Tells whether the workload has what is recorded already: a change that was repeated replaces no pod. */
function isWritten({ objects }: FoundPlane, record: WorkloadRecord, member: WorkloadMember): boolean {
  const workload = objects.workloads.get(member);
  return workload !== undefined && workloadRun(workload) === recordedDigest(record, member);
}

/** Starts a member again with what the phase of a rotation has. The pod is replaced as by every other change. */
export async function restartMember(
  plane: PlaneOwner,
  member: PlaneMember,
  parts: WorkloadParts,
): Promise<void> {
  const place = await openMember(plane, member, parts);
  if (!place) return;
  const image = workloadImage(place.found.objects.workloads.get(place.member));
  const start = { at: parts.clock.now(), image };
  const after = await changeRecord(parts.client, plane, (current) =>
    current.isDestroying ? current : withRestart(knownRunning(current, place), place.member, start),
  );
  await applyChanged(place, after, parts);
}

/** Each correction counts as a start, so that one that is edited again each time is noticed. */
export async function correctMember(
  plane: PlaneOwner,
  member: PlaneMember,
  parts: WorkloadParts,
): Promise<void> {
  const place = await openMember(plane, member, parts);
  if (!place) return;
  const { found, record } = place;
  const workload = found.objects.workloads.get(place.member);
  if (record.members[place.member]?.isRunning !== true || !workload || !workloadDrift(workload)) return;
  const at = parts.clock.now();
  const after = await changeRecord(parts.client, plane, (current) =>
    current.isDestroying ? current : withCorrectedStart(current, place.member, at),
  );
  if (after.isDestroying) return;
  // Written as a whole, it could have what a later version of hosting adds, and start the member again.
  if (programDrift(workload) === undefined) {
    await scaleMember(parts.client, plane, { member: place.member, replicas: 1 });
  } else await applyMember(found, after, { ...parts, member: place.member });
}

export async function settleWorkload(
  plane: PlaneOwner,
  settled: SettledPlane,
  { client }: Pick<WorkloadParts, 'client'>,
): Promise<void> {
  requireOwnNamespace(await readHubPlane(client, plane));
  await changeRecord(client, plane, (current) => withSettled(current, settled));
}

/** Undefined: the control plane is being destroyed. */
async function openMember(
  plane: PlaneOwner,
  member: PlaneMember,
  { client }: WorkloadParts,
): Promise<ChangePlace | undefined> {
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  if (!isWorkloadMember(member) || !record) throw memberNotPrepared(found, member);
  if (record.isDestroying) return undefined;
  requireKeysOf(found, record);
  requireData(found, member);
  return { found, record, member };
}
