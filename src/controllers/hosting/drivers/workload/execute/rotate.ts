/** Brings a control plane of pods to a phase of a rotation of its authorities. It can be interrupted at any write and repeated. */
import { isSamePhase, newRotation, type RotationState } from '../../authorities/record.ts';
import { endingPhase, enteredPhase } from '../../authorities/steps.ts';
import type { PlaneOwner, PlaneSpec } from '../../driver.ts';
import { PLANE_KEYS } from '../../keys.ts';
import type { RotationStep } from '../../rotation.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { keepKeys, keptKeyDigests, withDerivedKeys } from '../pki/rotation.ts';
import { type WorkloadRecord, withoutRotation } from '../record.ts';
import { requireKeysOf, storeKeys } from './keys.ts';
import { type PrepareParts, prepareWorkload } from './prepare.ts';
import { changeRecord } from './record.ts';

export async function rotateWorkload(
  plane: PlaneSpec,
  step: RotationStep,
  parts: PrepareParts,
): Promise<void> {
  const { id, phase } = step;
  const found = await readHubPlane(parts.client, plane);
  requireOwnNamespace(found);
  const { record, where } = found;
  if (!record || record.isDestroying) return;
  requireKeysOf(found, record);
  if (phase === 'Aborted') return await end(found, { id, phase }, parts);
  const enter = (current: WorkloadRecord): WorkloadRecord =>
    withState(current, enteredPhase(current.rotation, { id, phase, where, begin: beginAfter(current) }));
  // What the phase before could do without may be lost.
  requireKeysOf(found, enter(record));
  await removeFormerKept(plane, record, parts);
  const { rotation: entered } = await changeRecord(parts.client, plane, enter);
  if (phase === 'Completed') return await end(found, { id, phase }, parts);
  if (!entered) return;
  await ensureKeys(plane, entered, parts);
  if (!(await prepareWorkload(plane, parts))) return;
  await changeRecord(parts.client, plane, (current) => withApplied(current, entered));
}

/** Kept keys that are there before a rotation begins are of a former one, or of somebody else, and are never rotated to. */
async function removeFormerKept(
  plane: PlaneOwner,
  { rotation }: WorkloadRecord,
  { client }: PrepareParts,
): Promise<void> {
  if (rotation && rotation.phase !== 'Completed') return;
  await storeKeys(client, plane, (files, current) => withDerivedKeys(files, current.rotation));
}

/** A member was started in a phase of a rotation that is over. The same count must not be given to another phase. */
function beginAfter({ members }: WorkloadRecord): (id: string) => RotationState {
  const counts = Object.values(members).map(({ phase = 0 }) => phase);
  return (id) => newRotation(id, Math.max(0, ...counts) + 1);
}

function withState(record: WorkloadRecord, rotation: RotationState): WorkloadRecord {
  return rotation === record.rotation ? record : { ...record, rotation };
}

/** Another hosting may have entered the next phase meanwhile, whose files are not written. */
function withApplied(record: WorkloadRecord, entered: RotationState): WorkloadRecord {
  const { rotation } = record;
  const isOurs = rotation?.keys !== undefined && !rotation.isApplied && isSamePhase(rotation, entered);
  return isOurs ? withState(record, { ...rotation, isApplied: true }) : record;
}

/** They are recorded when all of them are there, and before the first is used. */
async function ensureKeys(
  plane: PlaneOwner,
  entered: RotationState,
  { client, clock }: PrepareParts,
): Promise<void> {
  if (entered.keys) return;
  const isMaking = ({ rotation }: WorkloadRecord): boolean =>
    isSamePhase(rotation, entered) && rotation?.keys === undefined;
  const made = { id: entered.id, now: clock.now() };
  const { files } = await storeKeys(client, plane, (before, current) =>
    isMaking(current) ? keepKeys(before, made) : before,
  );
  const keys = keptKeyDigests(files);
  const areAllKept = [keys.old, keys.new].every((digests) =>
    PLANE_KEYS.every((name) => digests[name] !== undefined),
  );
  await changeRecord(client, plane, (current) =>
    areAllKept && isMaking(current) ? withState(current, { ...entered, keys }) : current,
  );
}

type EndStep = RotationStep & { readonly phase: 'Completed' | 'Aborted' };

/**
 * The keys that stay are recorded as those of the control plane before the others are removed, from when on nothing can be proven. Another hosting
 * may have ended this rotation meanwhile, and begun another one, whose keys are kept.
 */
async function end(
  { owner, where }: FoundPlane,
  { id, phase }: EndStep,
  { client }: PrepareParts,
): Promise<void> {
  const age = phase === 'Completed' ? 'new' : 'old';
  const { rotation: ending } = await changeRecord(client, owner, (current) => {
    const state = endingPhase(current.rotation, { id, phase, where });
    if (!state || current.rotation?.isEnding === true) return current;
    return { ...current, rotation: state, keys: state.keys[age] };
  });
  if (ending?.isEnding !== true || ending.phase === 'Completed') return;
  const isOurs = ({ rotation }: WorkloadRecord): boolean =>
    rotation?.isEnding === true && isSamePhase(rotation, ending);
  await storeKeys(client, owner, (files, current) =>
    isOurs(current) ? withDerivedKeys(files, current.rotation) : files,
  );
  await changeRecord(client, owner, (current) => {
    if (!isOurs(current)) return current;
    return phase === 'Aborted' ? withoutRotation(current) : { ...current, rotation: { ...ending, phase } };
  });
}
