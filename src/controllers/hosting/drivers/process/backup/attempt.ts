/** Records the attempts to take a backup, in the folder of the control plane. Each is recorded before it begins. */
import { join } from 'node:path';
import { z } from 'zod';
import { optional } from '../../../../../kube/objects/optional.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import type { BackupAttempt } from '../../driver.ts';

const attemptRecord = z.strictObject({
  format: z.literal(1),
  at: z.iso.datetime(),
  problem: z.string().optional(),
  since: z.iso.datetime().optional(),
});

const FILE = 'backup.json';
const INTERRUPTED = 'it was interrupted';
const MAX_PROBLEM = 1000;

/** A record that cannot be read counts as no attempt: it only limits how often one is made. */
export async function readAttempt(root: string): Promise<BackupAttempt | undefined> {
  const text = await readFileIfExists(join(root, FILE));
  const { data } = attemptRecord.safeParse(text === undefined ? undefined : parse(text));
  if (!data) return undefined;
  const since = data.since === undefined ? undefined : new Date(data.since);
  return { at: new Date(data.at), ...optional('problem', data.problem), ...optional('since', since) };
}

/** Carries out the attempt between its two records. Until it ends it counts as failed, so that a crash in it is not repeated at once. */
export async function recordAttempt(root: string, at: Date, work: () => Promise<void>): Promise<void> {
  const before = await readAttempt(root);
  const since = before?.since ?? at;
  await writeAttempt(root, { at, problem: INTERRUPTED, since });
  try {
    await work();
  } catch (error) {
    await writeAttempt(root, { at, problem: messageOf(error).slice(0, MAX_PROBLEM), since });
    throw error;
  }
  await writeAttempt(root, { at });
}

async function writeAttempt(root: string, { at, problem, since }: BackupAttempt): Promise<void> {
  const record = {
    format: 1,
    at: at.toISOString(),
    ...optional('problem', problem),
    ...optional('since', since?.toISOString()),
  };
  await writeFileAtomic(join(root, FILE), `${JSON.stringify(record)}\n`, PRIVATE_MODE);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
