/**
 * One cgroup for each node, in every hierarchy: it is the root cgroup of the node, so two nodes never share
 * one, and every process of a node can be found.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { untilClean } from '../leak-guard/until-clean.ts';
import { type Hierarchy, hierarchiesIn } from './hierarchies.ts';
import { isStale } from './marks.ts';

/** Creates them and resolves with the folders. */
export async function makeCgroups(name: string): Promise<readonly string[]> {
  const hierarchies = await listHierarchies();
  const folders: string[] = [];
  for (const { folder, isCpuset } of hierarchies) {
    const own = join(folder, name);
    await mkdir(own);
    folders.push(own);
    if (isCpuset) await inheritCpus(folder, own);
  }
  return folders;
}

/** A new cpuset has no CPU, so no process can enter it. */
async function inheritCpus(from: string, to: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    await writeFile(join(to, file), await readFile(join(from, file), 'utf8'));
  }
  await writeFile(join(to, 'cgroup.clone_children'), '1');
}

/** Ends the processes that still run in them. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders.filter(existsSync)) {
    for (const pid of await processesIn(folder)) killQuietly(pid);
    await removeTree(folder);
  }
}

export async function removeStaleCgroups(): Promise<void> {
  for (const { folder } of await listHierarchies()) {
    const stale = (await readdir(folder)).filter(isStale).map((name) => join(folder, name));
    await removeCgroups(stale);
  }
}

async function processesIn(folder: string): Promise<number[]> {
  const folders = [folder, ...(await foldersBelow(folder))];
  const lists = await Promise.all(
    folders.map((each) => readFile(join(each, 'cgroup.procs'), 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split('\n').filter(Boolean).map(Number));
}

/** Deepest first. A cgroup stays busy for a moment after its last process ended. */
async function removeTree(folder: string): Promise<void> {
  for (const each of [...(await foldersBelow(folder)).toReversed(), folder]) {
    await rmdir(each).catch(() => undefined);
  }
  if (!existsSync(folder)) return;
  const busy = await processesIn(folder);
  for (const pid of busy) killQuietly(pid);
  await untilClean(() => busy.filter((pid) => existsSync(`/proc/${pid}`)).map(String));
  for (const each of [...(await foldersBelow(folder)).toReversed(), folder]) await rmdir(each);
}

async function foldersBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ended meanwhile
  }
}

async function listHierarchies(): Promise<readonly Hierarchy[]> {
  const [mounts, own] = await Promise.all([
    readFile('/proc/self/mountinfo', 'utf8'),
    readFile('/proc/self/cgroup', 'utf8'),
  ]);
  return hierarchiesIn(mounts, own);
}
