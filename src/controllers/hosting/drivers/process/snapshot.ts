/** Takes snapshots of one member of an etcd of this machine while it serves, and verifies each by opening a copy of it. */
import { rm } from 'node:fs/promises';
import type { ProgramPath } from '../../../../local/processes/commands.ts';
import type { UpkeepControl } from '../driver.ts';
import {
  type CopyTools,
  copyData,
  copySnapshot,
  readSnapshot,
  replaceSnapshot,
  SNAPSHOT_RECORD,
  type SnapshotOrigin,
  type SnapshotRecord,
  snapshotData,
  snapshotInvalid,
  verifyKeys,
} from '../etcd/snapshot.ts';
import { openCopy } from './etcd/open-copy.ts';

export interface SnapshotSource extends SnapshotOrigin {
  readonly pkiFolder: string;
}

export interface SnapshotTools extends Omit<CopyTools, 'signal'> {
  /** The programs of the version that runs. */
  readonly path: ProgramPath;
  readonly control?: UpkeepControl;
}

/** Takes and verifies a snapshot. It replaces the one in the folder only when it is verified. Callers hold a lock that nothing else writes the folder with. */
export async function takeSnapshot(
  source: SnapshotSource,
  folder: string,
  tools: SnapshotTools,
): Promise<SnapshotRecord> {
  const temporary = `${folder}.tmp`;
  try {
    tools.control?.onStep('Copying');
    const taken = await copySnapshot(source, temporary, { ...tools, signal: tools.control?.signal });
    tools.control?.onStep('Opening');
    await verifyData(snapshotData(temporary), taken, { ...source, ...tools });
    await replaceSnapshot(temporary, folder, taken);
    return taken;
  } catch (error) {
    throw snapshotInvalid(folder, error);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Rejects unless an etcd that starts from a copy of the snapshot has the keys that were there. */
export async function verifySnapshot(
  folder: string,
  parts: Pick<SnapshotSource, 'pkiFolder' | 'endpoint'> & SnapshotTools,
): Promise<SnapshotRecord> {
  const taken = await readSnapshot(folder);
  try {
    if (!taken) throw new Error(`${SNAPSHOT_RECORD} is missing or not valid`);
    await verifyData(snapshotData(folder), taken, parts);
    return taken;
  } catch (error) {
    throw snapshotInvalid(folder, error);
  }
}

/** Rejects unless an etcd that starts from a copy of the data, beside it, has the keys of that state. */
async function verifyData(
  data: string,
  taken: SnapshotRecord,
  parts: Pick<SnapshotSource, 'pkiFolder' | 'endpoint'> & SnapshotTools,
): Promise<void> {
  const copy = `${data}.check`;
  await rm(copy, { recursive: true, force: true });
  try {
    const signal = parts.control?.signal;
    await copyData(data, copy, signal);
    await openCopy(copy, { ...parts, signal }, (endpoint) => verifyKeys(endpoint, taken));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
