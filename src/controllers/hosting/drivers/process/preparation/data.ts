/**
 * Tells whose data is in the folder of etcd. The file with the UID of the Cluster is beside the data of the member, so that it is lost with
 * the data, and goes along when somebody moves the data to another control plane.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileExists, PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import type { DataState } from '../../driver.ts';
import type { PlaneRecord } from '../records.ts';

const MEMBER = 'member';
const OWNER_FILE = join(MEMBER, 'kubenode-owner');

export interface DataOwner {
  readonly uid: string;
  /** Whether the owner was ever written. An earlier version of hosting wrote none. */
  readonly isMarked: boolean;
}

/** The data of one member cannot be those of another. The first has the mark that it had when there was only one. */
export function dataOwner({ uid, isDataMarked = false }: PlaneRecord, index: number): DataOwner {
  return index === 0 ? { uid, isMarked: isDataMarked } : { uid: `${uid}/${index}`, isMarked: true };
}

export async function readDataState(folder: string, owner: DataOwner): Promise<DataState> {
  const found = (await readFileIfExists(join(folder, OWNER_FILE)))?.trim();
  if (found !== undefined && found !== owner.uid) return 'Other';
  // The log of writes appears by a rename, when it is complete.
  if (!(await fileExists(join(folder, MEMBER, 'wal')))) return 'Empty';
  return found === undefined && owner.isMarked ? 'Other' : 'Own';
}

/** Moves away what is left of data whose log is missing: etcd would take the rest for data of its own. The last one is kept. */
export async function setRestAside(folder: string): Promise<void> {
  const names = await readdir(join(folder, MEMBER)).catch(() => []);
  if (names.every((name) => join(MEMBER, name) === OWNER_FILE)) return;
  await rm(join(folder, `${MEMBER}.old`), { recursive: true, force: true });
  await rename(join(folder, MEMBER), join(folder, `${MEMBER}.old`));
}

/** Writes whose data it is, or will be. Data of others stays theirs. */
export async function markData(folder: string, owner: DataOwner): Promise<void> {
  if ((await readDataState(folder, owner)) === 'Other') return;
  await mkdir(join(folder, MEMBER), { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(folder, OWNER_FILE), `${owner.uid}\n`, PRIVATE_MODE);
}
