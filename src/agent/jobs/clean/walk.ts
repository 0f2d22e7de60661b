/** Finds the files below a directory without following a link, not even in the path of the directory itself. */
import type { HostFiles } from '../../host/port.ts';
import type { FoundFile } from './select.ts';

const MAX_DEPTH = 8;
const MAX_FILES = 50_000;

export async function findFiles(
  files: Pick<HostFiles, 'list' | 'stat'>,
  root: string,
): Promise<readonly FoundFile[]> {
  const found: FoundFile[] = [];

  async function visit(directory: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return;
    for (const name of await files.list(directory)) {
      if (found.length >= MAX_FILES) return;
      const path = `${directory}/${name}`;
      const stat = await files.stat(path);
      if (stat?.type === 'Directory') await visit(path, depth + 1);
      else if (stat) found.push({ path, stat });
    }
  }

  if (await isRealPath(files, root)) await visit(root, 0);
  return found;
}

/** Each directory on the way is one, and not a link to another place. */
export async function isRealPath(files: Pick<HostFiles, 'stat'>, directory: string): Promise<boolean> {
  const segments = directory.split('/').slice(1);
  for (let length = 1; length <= segments.length; length += 1) {
    const stat = await files.stat(`/${segments.slice(0, length).join('/')}`);
    if (stat?.type !== 'Directory') return false;
  }
  return true;
}
