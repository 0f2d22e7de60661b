/** Keeps the files of a control plane private: its folder, and every file with a key. */
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { etcdDataFolder, type Layout } from '../../../../../local/layout.ts';
import { systemCode } from '../../../../../os/errors.ts';
import { toDiskError } from '../../../../../os/files.ts';
import { ETCD_MEMBERS } from '../../driver.ts';

const OTHERS = 0o077;
/** Certificates without a key. */
const PUBLIC_FILE = /\.crt$/;

/** Lists what other users of this machine may read or enter. */
export async function openEntries(layout: Layout, cluster: string): Promise<readonly string[]> {
  const { folder, pkiFolder } = layout.cluster(cluster);
  const data = ETCD_MEMBERS.map((_, index) => etcdDataFolder(layout, index));
  const folders = [layout.root, ...data, layout.etcd.pkiFolder, folder, pkiFolder];
  const files = await Promise.all([layout.etcd.pkiFolder, folder, pkiFolder].map(filesIn));
  const paths = [...new Set([...folders, ...files.flat()])];
  const open = await Promise.all(paths.map(async (path) => ((await isOpen(path)) ? [path] : [])));
  return open.flat();
}

/** Takes the rights of others away. What the owner may do stays. */
export async function closeEntries(layout: Layout, cluster: string): Promise<void> {
  for (const path of await openEntries(layout, cluster)) {
    const { mode } = await lstat(path);
    await chmod(path, mode & 0o700);
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const names = await orMissing(readdir(folder), folder);
  return (names ?? []).filter((name) => !PUBLIC_FILE.test(name)).map((name) => join(folder, name));
}

/** A link has no rights of its own. */
async function isOpen(path: string): Promise<boolean> {
  const found = await orMissing(lstat(path), path);
  return found !== undefined && !found.isSymbolicLink() && (found.mode & OTHERS) !== 0;
}

async function orMissing<T>(work: Promise<T>, path: string): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, path);
  }
}
