/**
 * Keeps the credentials of registries that an import delivers, in the file that downloads read. A file that somebody else wrote is never changed.
 * It may be killed at any line, and repeated.
 */
import { createHash } from 'node:crypto';
import type { HostFiles } from '../host/port.ts';
import { REGISTRIES_FILE } from '../layout.ts';
import { TakeoverError } from './errors.ts';
import { type ImportRecord, readImportRecord, writeImportRecord } from './record.ts';

const PRIVATE = { mode: '0600', owner: 'root:root' };

/** Stores the credentials. Undefined: this import has no credentials any more, and what an earlier delivery wrote is removed. */
export async function storeRegistries(files: HostFiles, content: string | undefined): Promise<void> {
  const record = await readImportRecord(files);
  if (content === undefined) await removeRegistries(files, record);
  else await writeRegistries(files, content, record);
}

async function writeRegistries(
  files: HostFiles,
  content: string,
  record: ImportRecord | undefined,
): Promise<void> {
  const found = await files.digest(REGISTRIES_FILE);
  const digest = createHash('sha256').update(content).digest('hex');
  if (found === digest) return;
  const before = found === undefined ? [] : [found];
  if (!record) {
    const hint = 'install it first: kubenode-agent install';
    throw new TakeoverError('BadInput', 'this host has no record of an import', { hint });
  }
  if (!before.every((each) => record.registries?.includes(each))) {
    throw new TakeoverError('FileInUse', `the host has a file ${REGISTRIES_FILE} of its own`);
  }
  // The record has both until the file is replaced: either may be there after a kill.
  await writeImportRecord(files, { ...record, registries: [...before, digest] });
  await files.write(REGISTRIES_FILE, new TextEncoder().encode(content), PRIVATE);
}

/** Returns what is left: a file that was changed since belongs to somebody else. */
export async function removeRegistries(
  files: HostFiles,
  record: Pick<ImportRecord, 'registries'> | undefined,
): Promise<readonly string[]> {
  const { registries = [] } = record ?? {};
  const found = await files.digest(REGISTRIES_FILE);
  if (found === undefined || registries.length === 0) return [];
  if (!registries.includes(found)) return [`${REGISTRIES_FILE}: it was changed after the import`];
  await files.remove(REGISTRIES_FILE);
  return [];
}
