/** Brings a control plane of pods to a phase of a rotation of its authorities. It can be interrupted at any write and repeated. */
import { newRotation, type RotationState } from '../../authorities/record.ts';
import { endingPhase, enteredPhase } from '../../authorities/steps.ts';
import type { PlaneOwner, PlaneSpec } from '../../driver.ts';
import type { RotationStep } from '../../rotation.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { keepKeys, keptKeyDigests, withoutKept } from '../pki/rotation.ts';
import { type WorkloadRecord, withoutRotation } from '../record.ts';
import { type PrepareParts, prepareWorkload, requireKeysOf, storeKeys } from './prepare.ts';
import { changeRecord } from './record.ts';

export async function rotateWorkload(
  plane: PlaneSpec,
  { id, phase }: RotationStep,
  parts: PrepareParts,
): Promise<void> {
  const found = await readHubPlane(parts.client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  if (!record || record.isDestroying) return;
  requireKeysOf(found, record);
  if (phase === 'Aborted') return await end(found, phase, parts);
  const { where } = found;
  const after = await changeRecord(parts.client, plane, (current) =>
    withState(current, enteredPhase(current.rotation, { id, phase, where, begin: beginAfter(current) })),
  );
  if (phase === 'Completed') return await end(found, phase, parts);
  await ensureKeys(plane, after, parts);
  await prepareWorkload(plane, parts);
  await changeRecord(parts.client, plane, withApplied);
}

/** A member was started in a phase of a rotation that is over. The same count must not be given to another phase. */
function beginAfter({ members }: WorkloadRecord): (id: string) => RotationState {
  const counts = Object.values(members).map(({ phase = 0 }) => phase);
  return (id) => newRotation(id, Math.max(0, ...counts) + 1);
}

function withState(record: WorkloadRecord, rotation: RotationState): WorkloadRecord {
  return rotation === record.rotation ? record : { ...record, rotation };
}

function withApplied(record: WorkloadRecord): WorkloadRecord {
  const { rotation } = record;
  return rotation ? withState(record, { ...rotation, isApplied: true }) : record;
}

/** They are recorded when all of them are there, and before the first is used. */
async function ensureKeys(
  plane: PlaneOwner,
  { rotation }: WorkloadRecord,
  { client, clock }: PrepareParts,
): Promise<void> {
  if (!rotation || rotation.keys) return;
  const found = await readHubPlane(client, plane);
  const made = { id: rotation.id, now: clock.now() };
  const files = await storeKeys(client, found, (before) => keepKeys(before, made));
  await changeRecord(client, plane, (current) =>
    current.rotation && !current.rotation.keys
      ? withState(current, { ...current.rotation, keys: keptKeyDigests(files) })
      : current,
  );
}

/** The keys that stay are recorded as those of the control plane before the others are removed, from when on nothing can be proven. */
async function end(
  { owner, where }: FoundPlane,
  phase: 'Completed' | 'Aborted',
  { client }: PrepareParts,
): Promise<void> {
  const age = phase === 'Completed' ? 'new' : 'old';
  const after = await changeRecord(client, owner, (current) => {
    const ending = endingPhase(current.rotation, phase, where);
    if (!ending || current.rotation?.isEnding === true) return current;
    return { ...current, rotation: ending, keys: ending.keys[age] };
  });
  if (after.rotation?.isEnding !== true || after.rotation.phase === 'Completed') return;
  await storeKeys(client, await readHubPlane(client, owner), withoutKept);
  await changeRecord(client, owner, (current) =>
    phase === 'Aborted' || !current.rotation
      ? withoutRotation(current)
      : { ...current, rotation: { ...current.rotation, phase } },
  );
}
