/** Records the attempts to take a backup, to restore one for a test, or to defragment etcd, in the folder of the control plane. Each is recorded before it begins. */
import { z } from 'zod';
import { optional } from '../../../../../kube/objects/optional.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import { begunAttempt, failedAttempt } from '../../attempts.ts';
import type { BackupAttempt } from '../../driver.ts';
import { type DrillCheck, drillCheck } from '../../etcd/drill/check.ts';

const attemptRecord = z.strictObject({
  format: z.literal(1),
  at: z.iso.datetime(),
  problem: z.string().optional(),
  since: z.iso.datetime().optional(),
  former: z.string().optional(),
  checked: drillCheck.optional(),
});

/** The files in the folder of a control plane. */
export const BACKUP_FILE = 'backup.json';
export const DRILL_FILE = 'drill.json';
export const SPACE_FILE = 'space.json';

/** A record that cannot be read counts as no attempt: it only limits how often one is made. */
export async function readAttempt(path: string): Promise<BackupAttempt | undefined> {
  const text = await readFileIfExists(path);
  const { data } = attemptRecord.safeParse(text === undefined ? undefined : parse(text));
  if (!data) return undefined;
  const since = data.since === undefined ? undefined : new Date(data.since);
  const { problem, former, checked } = data;
  return {
    at: new Date(data.at),
    ...optional('problem', problem),
    ...optional('since', since),
    ...optional('former', former),
    ...optional('checked', checked),
  };
}

/**
 * Carries out the attempt between its two records. Until it ends it counts as failed, so that a crash in it is not repeated at once. One that
 * the signal ended was interrupted, too.
 */
export async function recordAttempt(
  path: string,
  at: Date,
  work: () => Promise<DrillCheck | void>,
  signal?: AbortSignal,
): Promise<void> {
  const begun = begunAttempt(await readAttempt(path), at);
  await writeAttempt(path, begun);
  let checked: DrillCheck | undefined;
  try {
    checked = (await work()) ?? undefined;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    await writeAttempt(path, failedAttempt(begun, messageOf(error)));
    throw error;
  }
  await writeAttempt(path, { at, ...optional('checked', checked) });
}

async function writeAttempt(
  path: string,
  { at, problem, since, former, checked }: BackupAttempt,
): Promise<void> {
  const record = {
    format: 1,
    at: at.toISOString(),
    ...optional('problem', problem),
    ...optional('since', since?.toISOString()),
    ...optional('former', former),
    ...optional('checked', checked),
  };
  await writeFileAtomic(path, `${JSON.stringify(record)}\n`, PRIVATE_MODE);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
