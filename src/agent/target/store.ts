/** Targets on the host, by id: a transition is finished or taken back without the API. */
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

/** Undefined as readTarget. */
export type TargetReader = (id: string) => Promise<Target | undefined>;

const MAX_KNOWN = 200;

/** Reads a target again only after its file changed. */
export function createTargetReader(files: HostFiles): TargetReader {
  const known = new Map<string, { readonly revision: string; readonly target: Target | undefined }>();
  return async (id) => {
    const stat = await files.stat(targetFile(id));
    const before = known.get(id);
    // A link has another revision than the file behind it.
    if (stat?.type === 'File' && before?.revision === stat.revision) return before.target;
    const target = await readTarget(files, id);
    if (known.size >= MAX_KNOWN) known.clear();
    if (stat) known.set(id, { revision: stat.revision, target });
    return target;
  };
}

/** Removes what no journal record refers to. */
export async function sweepTargets(files: HostFiles, referenced: ReadonlySet<string>): Promise<void> {
  const kept = new Set([...referenced].map(targetFile));
  for (const name of await files.list(TARGETS_DIRECTORY)) {
    const path = `${TARGETS_DIRECTORY}/${name}`;
    if (!kept.has(path)) await files.remove(path);
  }
}
