/** Brings a control plane to a phase of a rotation of its authorities. It can be interrupted at any point and repeated. */

import { HostingError } from '../../../errors.ts';
import type { PlaneSpec } from '../../driver.ts';
import type { RotationPhase, RotationStep } from '../../rotation.ts';
import { type PlaneFolder, readPlane, requireOwn } from '../folder.ts';
import { keyFiles, requireKeys } from '../preparation/keys.ts';
import { type PrepareOptions, preparePlane } from '../preparation/prepare.ts';
import { forgetAllStarts, writePlaneRecord } from '../records.ts';
import { keptDigests, makeKeys, removeKept } from './authorities.ts';
import {
  newRotation,
  nextPhase,
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
  if (step.phase === 'Aborted') return await abort(own, rotation);
  const current = await enterPhase(own, rotation, { id: step.id, phase: step.phase });
  if (step.phase === 'Completed') return await complete(own, current);
  await ensureKeys(own, current, options);
  await preparePlane(plane, options);
  const applied = (await readRotation(layout.root)) ?? current;
  await writeRotation(layout.root, { ...applied, isApplied: true });
}

/** Records the phase. A member that ended in the phase before counts for nothing now. */
async function enterPhase(
  { layout: { root } }: Own,
  before: RotationRecord | undefined,
  { id, phase }: { readonly id: string; readonly phase: RotationPhase },
): Promise<RotationRecord> {
  const isFirst = !before || (before.phase === 'Completed' && before.id !== id);
  if (isFirst && phase === 'TrustBoth') return await enter(root, newRotation(id));
  if (isFirst || before.id !== id) throw outOfOrder(root, phase);
  return await follow(root, before, phase);
}

async function follow(root: string, before: RotationRecord, phase: RotationPhase): Promise<RotationRecord> {
  // Completed is recorded when the new keys are those of the control plane.
  if (before.phase === phase || phase === 'Completed') return before;
  if (!NEXT[before.phase].includes(phase)) throw outOfOrder(root, phase);
  return await enter(root, nextPhase(before, phase));
}

/** Lists what each phase may be followed by. Once the former authorities are not trusted any more, nothing takes a rotation back. */
const NEXT: Readonly<Record<RotationPhase, readonly RotationPhase[]>> = {
  TrustBoth: ['IssueNew', 'TrustOld'],
  IssueNew: ['ServeNew', 'TrustBoth'],
  ServeNew: ['TrustNew', 'TrustBoth'],
  TrustNew: [],
  TrustOld: [],
  Completed: [],
};

async function enter(root: string, next: RotationRecord): Promise<RotationRecord> {
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
async function complete({ layout, record: plane }: Own, rotation: RotationRecord): Promise<void> {
  if (rotation.phase === 'Completed') return;
  if (rotation.phase !== 'TrustNew' || !rotation.isApplied || !rotation.keys) {
    throw outOfOrder(layout.root, 'Completed');
  }
  await writeRotation(layout.root, { ...rotation, isEnding: true });
  await writePlaneRecord(layout.root, { ...plane, keys: rotation.keys.new });
  await removeKept(keyFiles(layout, plane));
  await writeRotation(layout.root, { ...rotation, phase: 'Completed', isEnding: true });
}

async function abort({ layout, record: plane }: Own, rotation: RotationRecord | undefined): Promise<void> {
  if (!rotation || rotation.phase === 'Completed') return;
  if (rotation.phase !== 'TrustOld' || !rotation.isApplied) throw outOfOrder(layout.root, 'Aborted');
  await writeRotation(layout.root, { ...rotation, isEnding: true });
  await removeKept(keyFiles(layout, plane));
  await removeRotation(layout.root);
}

function outOfOrder(root: string, phase: RotationStep['phase']): HostingError {
  return new HostingError('RotationOutOfOrder', `the rotation of the authorities cannot go to ${phase} now`, {
    where: root,
    hint: 'nothing to do: hosting observes the control plane again',
  });
}
