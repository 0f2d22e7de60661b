/** Caches what was read of files: a file is read again only after it changed. */
import type { HostFiles } from './port.ts';

const MAX_KNOWN = 500;

/** Creates the cache. `pathOf` names the file of a key. Nothing is read of a file that is missing. */
export function createFileCache<T>(
  files: Pick<HostFiles, 'stat'>,
  pathOf: (key: string) => string,
  read: (key: string) => Promise<T | undefined>,
): (key: string) => Promise<T | undefined> {
  const known = new Map<string, { readonly revision: string; readonly value: T | undefined }>();
  return async (key) => {
    const stat = await files.stat(pathOf(key));
    if (!stat) {
      known.delete(key);
      return undefined;
    }
    const before = known.get(key);
    // A link has another revision than the file behind it.
    if (stat.type === 'File' && before?.revision === stat.revision) return before.value;
    const value = await read(key);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, { revision: stat.revision, value });
    return value;
  };
}
