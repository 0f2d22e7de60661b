/** Targets on the host, by id: a transition is finished or taken back without the API. */
import { createFileCache } from '../host/file-cache.ts';
import type { HostFiles } from '../host/port.ts';
import { TARGETS_DIRECTORY, targetFile } from '../layout.ts';
import type { Target } from './target.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

export async function storeTarget(files: HostFiles, target: Target): Promise<void> {
  await files.write(targetFile(target.id), new TextEncoder().encode(JSON.stringify(target)), ATTRIBUTES);
}

/** A file that is damaged counts as missing. */
export async function readTarget(files: HostFiles, id: string): Promise<Target | undefined> {
  const content = await files.read(targetFile(id));
  if (!content) return undefined;
  try {
    const target = JSON.parse(new TextDecoder().decode(content)) as Target;
    return target.id === id ? target : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a target by its id. Undefined: the file is missing or damaged. */
export type TargetReader = (id: string) => Promise<Target | undefined>;

export function createTargetReader(files: HostFiles): TargetReader {
  return createFileCache(files, targetFile, (id) => readTarget(files, id));
}

/** Removes what no journal record refers to. */
export async function sweepTargets(files: HostFiles, referenced: ReadonlySet<string>): Promise<void> {
  const kept = new Set([...referenced].map(targetFile));
  for (const name of await files.list(TARGETS_DIRECTORY)) {
    const path = `${TARGETS_DIRECTORY}/${name}`;
    if (!kept.has(path)) await files.remove(path);
  }
}
