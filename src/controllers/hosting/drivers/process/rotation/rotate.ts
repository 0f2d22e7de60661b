/** Brings a control plane to a phase of a rotation of its authorities. It can be interrupted at any point and repeated. */

import { endingPhase, enteredPhase } from '../../authorities/steps.ts';
import type { PlaneSpec } from '../../driver.ts';
import type { RotationPhase, RotationStep } from '../../rotation.ts';
import { type PlaneFolder, readPlane, requireOwn } from '../folder.ts';
import { keyFiles, requireKeys } from '../preparation/keys.ts';
import { type PrepareOptions, preparePlane } from '../preparation/prepare.ts';
import { forgetAllStarts, writePlaneRecord } from '../records.ts';
import { keptDigests, makeKeys, removeKept } from './authorities.ts';
import {
  newRotationRecord,
  type RotationRecord,
  readRotation,
  removeRotation,
  writeRotation,
} from './record.ts';

type Own = PlaneFolder & { readonly record: NonNullable<PlaneFolder['record']> };

export async function rotatePlane(
  plane: PlaneSpec,
  step: RotationStep,
  options: PrepareOptions,
): Promise<void> {
  const found = await readPlane(options.dir, plane);
  requireOwn(found);
  const { record, layout } = found;
  if (!record || record.isDestroying) return;
  await requireKeys(found);
  const own: Own = { ...found, record };
  const rotation = await readRotation(layout.root);
  if (step.phase === 'Aborted') return await abort(own, rotation, step.id);
  const current = await enterPhase(own, rotation, { id: step.id, phase: step.phase });
  if (step.phase === 'Completed') return await complete(own, current, step.id);
  await ensureKeys(own, current, options);
  await preparePlane(plane, options);
  const applied = (await readRotation(layout.root)) ?? current;
  await writeRotation(layout.root, { ...applied, isApplied: true });
}

/** Records the phase. A member that ended in the phase before counts for nothing now. */
async function enterPhase(
  own: Own,
  before: RotationRecord | undefined,
  step: { readonly id: string; readonly phase: RotationPhase },
): Promise<RotationRecord> {
  const { root } = own.layout;
  const next = enteredPhase(before, { ...step, where: root, begin: newRotationRecord });
  if (next === before) return next;
  // What the phase before could do without may be lost.
  await requireKeys(own, next);
  await forgetAllStarts(root);
  await writeRotation(root, next);
  return next;
}

/** They are recorded when all of them are there, and before the first is used. */
async function ensureKeys(
  { layout, record }: Own,
  rotation: RotationRecord,
  options: PrepareOptions,
): Promise<void> {
  if (rotation.keys) return;
  const files = keyFiles(layout, record);
  await makeKeys(files, rotation, options.clock.now());
  const keys = { old: await keptDigests(files, 'old'), new: await keptDigests(files, 'new') };
  await writeRotation(layout.root, { ...rotation, keys });
}

/** The new keys are recorded as those of the control plane before the former ones are removed, from when on nothing can be proven. */
async function complete({ layout, record: plane }: Own, rotation: RotationRecord, id: string): Promise<void> {
  const ending = endingPhase(rotation, { id, phase: 'Completed', where: layout.root });
  if (!ending) return;
  await writeRotation(layout.root, ending);
  await writePlaneRecord(layout.root, { ...plane, keys: ending.keys.new });
  await removeKept(keyFiles(layout, plane), ending);
  await writeRotation(layout.root, { ...ending, phase: 'Completed' });
}

async function abort(
  { layout, record: plane }: Own,
  rotation: RotationRecord | undefined,
  id: string,
): Promise<void> {
  const ending = endingPhase(rotation, { id, phase: 'Aborted', where: layout.root });
  if (!ending) return;
  await writeRotation(layout.root, ending);
  await removeKept(keyFiles(layout, plane), ending);
  await removeRotation(layout.root);
}
