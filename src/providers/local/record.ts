/** Stores what is known of an instance for as long as it exists. The record is written once, before anything of the instance is started. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../os/files.ts';
import { ProviderError } from '../contract.ts';
import { type InstanceFolder, instanceFolder, newFolder, RECORD_FILE } from './folders.ts';

const record = z.strictObject({
  version: z.literal(1),
  machine: z.string(),
  type: z.enum(['sandbox', 'simulated']),
  zone: z.string().optional(),
  tags: z.strictObject({
    clusterUid: z.string(),
    machineUid: z.string(),
    set: z.string().optional(),
  }),
  createdAt: z.iso.datetime(),
});

export type InstanceRecord = Readonly<z.infer<typeof record>>;

/**
 * Returns the record; undefined: no instance has it. A record that cannot be read is an error: its instance is neither there nor missing.
 */
export async function readRecord({ recordFile }: InstanceFolder): Promise<InstanceRecord | undefined> {
  const text = await readFileIfExists(recordFile);
  if (text === undefined) return undefined;
  const { data } = record.safeParse(parseJson(text));
  if (data) return data;
  throw new ProviderError('Terminal', `${recordFile} is not the record of an instance`, {
    reason: 'InvalidRecord',
  });
}

/** Writes the folder and its record at once, so that no instance without tags can exist. */
export async function writeNewInstance(machines: string, written: InstanceRecord): Promise<InstanceFolder> {
  const { machineUid } = written.tags;
  const folder = instanceFolder(machines, machineUid);
  const incomplete = newFolder(machines, machineUid);
  await rm(incomplete, { recursive: true, force: true });
  await mkdir(incomplete, { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(incomplete, RECORD_FILE), JSON.stringify(written), PRIVATE_MODE);
  await rename(incomplete, folder.path);
  return folder;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
