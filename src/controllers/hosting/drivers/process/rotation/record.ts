/** The record of a rotation of authorities. Each phase is written before a file is changed for it. */
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import { newRotation, ROTATION_FIELDS } from '../../authorities/record.ts';
import { isRelay, MEMBERS, type PlaneMember, RUN_MEMBERS } from '../../driver.ts';
import { corruptRecord } from '../records.ts';

const rotationRecord = z.strictObject({
  format: z.literal(1),
  ...ROTATION_FIELDS,
  /** The phase in which each member was started last. It is recorded before the start. */
  members: z.partialRecord(z.enum([...RUN_MEMBERS, ...MEMBERS]), z.int()),
});
export type RotationRecord = Readonly<z.infer<typeof rotationRecord>>;

const ROTATION_FILE = 'rotation.json';

function pathOf(root: string): string {
  return `${root}/${ROTATION_FILE}`;
}

export async function readRotation(root: string): Promise<RotationRecord | undefined> {
  const text = await readFileIfExists(pathOf(root));
  if (text === undefined) return undefined;
  try {
    return rotationRecord.parse(JSON.parse(text));
  } catch (error) {
    throw corruptRecord(pathOf(root), error);
  }
}

/** Returns the record of a rotation that is neither completed nor taken back. */
export async function readRotationInWork(root: string): Promise<RotationRecord | undefined> {
  const record = await readRotation(root);
  return record?.phase === 'Completed' ? undefined : record;
}

export async function writeRotation(root: string, record: RotationRecord): Promise<void> {
  await writeFileAtomic(pathOf(root), `${JSON.stringify(record)}\n`, PRIVATE_MODE);
}

export async function removeRotation(root: string): Promise<void> {
  await rm(pathOf(root), { force: true });
}

export function newRotationRecord(id: string): RotationRecord {
  return { format: 1, ...newRotation(id), members: {} };
}

/** Records that the member reads the files of the phase, before it is started. While they are being written nothing is known about that. */
export async function recordRotationStart(root: string, member: PlaneMember): Promise<void> {
  if (isRelay(member)) return;
  const record = await readRotationInWork(root);
  if (!record?.isApplied || record.members[member] === record.sequence) return;
  await writeRotation(root, { ...record, members: { ...record.members, [member]: record.sequence } });
}
