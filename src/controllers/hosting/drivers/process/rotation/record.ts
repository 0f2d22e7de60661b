/** The record of a rotation of authorities. Each phase is written before a file is changed for it. */
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import { isBalancer, MEMBERS, type PlaneMember, RUN_MEMBERS } from '../../driver.ts';
import { PLANE_KEYS } from '../../keys.ts';
import { ROTATION_PHASES, type RotationPhase } from '../../rotation.ts';
import { corruptRecord } from '../records.ts';

const keyDigests = z.partialRecord(z.enum(PLANE_KEYS), z.string());

const rotationRecord = z.strictObject({
  format: z.literal(1),
  id: z.string(),
  phase: z.enum(ROTATION_PHASES),
  /** Counts the phases, so that a member that was started in one before is found without a clock. */
  sequence: z.int(),
  /** Whether every file is that of the phase. */
  isApplied: z.boolean(),
  /** Whether the new authorities ever issued a certificate. */
  hasIssued: z.boolean(),
  /** Whether its end has begun, after which the kept keys are removed. */
  isEnding: z.boolean().optional(),
  /** The digests of the public keys. Absent: the new keys are not made yet. */
  keys: z.strictObject({ old: keyDigests, new: keyDigests }).optional(),
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

export function newRotation(id: string): RotationRecord {
  const phase: RotationPhase = 'TrustBoth';
  return { format: 1, id, phase, sequence: 1, isApplied: false, hasIssued: false, members: {} };
}

/** Returns the record of the next phase. Members have to be started again for it, unless only what they serve changes. */
export function nextPhase(record: RotationRecord, phase: RotationPhase): RotationRecord {
  const hasIssued = record.hasIssued || phase === 'IssueNew';
  // What a member serves is read again while it runs.
  const sequence = phase === 'ServeNew' ? record.sequence : record.sequence + 1;
  return { ...record, phase, sequence, isApplied: false, hasIssued };
}

/** Returns the members that run, and were not started since the files are those of the phase. Balancers read none of them. */
export function membersBehind(
  { sequence, members }: RotationRecord,
  all: readonly PlaneMember[],
): readonly PlaneMember[] {
  return all.filter((member) => !isBalancer(member) && members[member] !== sequence);
}

/** Records that the member reads the files of the phase, before it is started. While they are being written nothing is known about that. */
export async function recordRotationStart(root: string, member: PlaneMember): Promise<void> {
  if (isBalancer(member)) return;
  const record = await readRotationInWork(root);
  if (!record?.isApplied || record.members[member] === record.sequence) return;
  await writeRotation(root, { ...record, members: { ...record.members, [member]: record.sequence } });
}
