/** Reports changes of paths by inotify. What it misses is found by the scan that runs beside it. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path/posix';

/** Paths of this machine's disk, that need not exist. */
export function watchPaths(paths: readonly string[], onChange: (path: string) => void): AsyncDisposable {
  const watchers = new Map<string, FSWatcher>();
  let closed = false;

  function arm(): void {
    const needed = new Set(paths.flatMap(directoriesOf));
    for (const [directory, watcher] of watchers) {
      if (!needed.has(directory)) close(directory, watcher);
    }
    for (const directory of needed) if (!watchers.has(directory)) open(directory);
  }

  function open(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => changed(directory, name));
      watcher.on('error', () => close(directory, watcher));
      watchers.set(directory, watcher);
    } catch {
      // Too many watches, or the directory was removed meanwhile: the scan finds the change.
    }
  }

  function close(directory: string, watcher: FSWatcher): void {
    watcher.close();
    watchers.delete(directory);
  }

  function changed(directory: string, name: string | null): void {
    if (closed) return;
    const path = name === null ? directory : `${directory}/${name}`;
    // A directory that was replaced has another inode: it is watched again.
    const replaced = watchers.get(path);
    if (replaced) close(path, replaced);
    arm();
    for (const each of paths) if (isRelated(each, path)) onChange(each);
  }

  arm();
  return {
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const [directory, watcher] of watchers) close(directory, watcher);
    },
  };
}

function isRelated(watched: string, changed: string): boolean {
  return watched === changed || watched.startsWith(`${changed}/`) || changed.startsWith(`${watched}/`);
}

/** The path itself where it is a directory, and the nearest directory above it that exists. */
function directoriesOf(path: string): string[] {
  let parent = dirname(path);
  while (!existsSync(parent) && parent !== '/') parent = dirname(parent);
  return existsSync(path) ? [parent, path] : [parent];
}
