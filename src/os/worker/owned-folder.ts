/**
 * Temporary folders of which a file beside them names the process that made them. A process that is killed cannot remove its
 * folders: the next one does. The name of a folder contains nothing of its process, because a render may see it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileIfExists } from '../files.ts';
import { isSameProcess, type ProcessIdentity, readProcessIdentity } from '../process/identity.ts';

/** No owner needs a folder that long. For owners that cannot be looked up: of another boot, or in another container. */
const MAX_AGE_MS = 3_600_000;
const OWNER_FILE = /^kubenode-[a-z-]+-[\da-f]{12}\.owner$/;
const SUFFIX = '.owner';

interface FolderOwner extends ProcessIdentity {
  /** The same pid in another container is another process. */
  readonly pidNamespace: string;
}

export async function createOwnedFolder(purpose: string): Promise<string> {
  const name = `kubenode-${purpose}-${randomBytes(6).toString('hex')}`;
  const path = join(await realpath(tmpdir()), name);
  const owner = await currentOwner().catch(() => undefined);
  if (owner) await writeFile(`${path}${SUFFIX}`, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
  await mkdir(path, { mode: 0o700 });
  return path;
}

export async function removeOwnedFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await rm(`${path}${SUFFIX}`, { force: true });
}

/** Removes the folders of processes that have ended. Resolves to their paths. */
export async function removeAbandonedFolders(now: Date, parent = tmpdir()): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(parent)) {
    if (!OWNER_FILE.test(name)) continue;
    const path = join(parent, name.slice(0, -SUFFIX.length));
    if (!(await isAbandoned(path, now))) continue;
    await removeOwnedFolder(path);
    removed.push(path);
  }
  return removed;
}

async function isAbandoned(path: string, now: Date): Promise<boolean> {
  const [owner, own] = [await readOwner(path), await currentOwner()];
  if (owner && own && owner.bootId === own.bootId && owner.pidNamespace === own.pidNamespace) {
    return !isSameProcess(owner, await readProcessIdentity(owner.pid));
  }
  const found = await stat(`${path}${SUFFIX}`).catch(() => undefined);
  return found !== undefined && now.getTime() - found.mtimeMs > MAX_AGE_MS;
}

async function currentOwner(): Promise<FolderOwner | undefined> {
  const identity = await readProcessIdentity(process.pid);
  if (!identity) return undefined;
  return { ...identity, command: [], pidNamespace: await readlink('/proc/self/ns/pid') };
}

/** Undefined when the file is not complete: its process may be writing it. */
async function readOwner(path: string): Promise<FolderOwner | undefined> {
  try {
    return JSON.parse((await readFileIfExists(`${path}${SUFFIX}`)) ?? '') as FolderOwner;
  } catch {
    return undefined;
  }
}
