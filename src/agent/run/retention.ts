/** Removes versions that no component returns to: directories, artifacts in the cache, stored targets. */
import type { HostFiles } from '../host/port.ts';
import { artifactFiles } from '../install/artifact.ts';
import { type ComponentProgress, type JournalState, referencedTargets } from '../journal/progress.ts';
import { CACHE_DIRECTORY, componentDirectory } from '../layout.ts';
import { readTarget, sweepTargets } from '../target/store.ts';
import type { Target } from '../target/target.ts';

export async function removeOldVersions(files: HostFiles, state: JournalState): Promise<void> {
  const kept: Target[] = [];
  for (const progress of state.components.values()) {
    const targets = await keptTargets(files, progress);
    // Without the target in force nothing is known of the others: nothing is removed.
    if (targets === undefined) return;
    kept.push(...targets);
    await removeDirectories(files, componentDirectory(progress.component), targets);
  }
  const artifacts = kept.flatMap(({ artifact }) => (artifact ? artifactFiles(artifact.sha256) : []));
  await removeOthers(files, CACHE_DIRECTORY, new Set(artifacts));
  await sweepTargets(files, referencedTargets(state));
}

/** Removes the directories of other versions. Links stay: `current` points to what is kept. */
async function removeDirectories(files: HostFiles, root: string, targets: readonly Target[]): Promise<void> {
  const links: string[] = [];
  for (const name of await files.list(root)) {
    const path = `${root}/${name}`;
    if ((await files.stat(path))?.type !== 'Directory') links.push(path);
  }
  await removeOthers(files, root, new Set([...links, ...targets.map(({ directory }) => directory)]));
}

async function removeOthers(files: HostFiles, directory: string, kept: ReadonlySet<string>): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = `${directory}/${name}`;
    if (!kept.has(path)) await files.remove(path);
  }
}

/** Returns what is in force, the versions before it, and both ends of a transition. Undefined when the one in force cannot be read. */
async function keptTargets(
  files: HostFiles,
  { current, history, transition }: ComponentProgress,
): Promise<readonly Target[] | undefined> {
  const [inForce] = await readTargets(files, [current]);
  if (current !== undefined && !inForce) return undefined;
  const older = history.slice(0, (inForce?.keepVersions ?? 1) - 1);
  return await readTargets(files, [current, transition?.from, transition?.to, ...older]);
}

async function readTargets(
  files: HostFiles,
  ids: readonly (string | undefined)[],
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const id of ids) {
    const target = id === undefined ? undefined : await readTarget(files, id);
    if (target) targets.push(target);
  }
  return targets;
}
