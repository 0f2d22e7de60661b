/** Reports changes of paths by inotify. What it misses is found by the scan that runs beside it. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path/posix';
import { systemCode } from '../../../os/errors.ts';

export interface PathWatch extends AsyncDisposable {
  /** Makes again what could not be made. Why a part of it still cannot. */
  retry(): string | undefined;
}

type Changed = (event: string, name: string | null) => void;
export type WatchDirectory = (directory: string, changed: Changed) => Pick<FSWatcher, 'close' | 'on'>;

const watchDirectory: WatchDirectory = (directory, changed) =>
  watch(directory, { persistent: false }, changed);

/** Names by the code of the error the setting of the kernel that limits inotify, for all programs of a user together. */
const USED_UP: Readonly<Record<string, string>> = {
  EMFILE: 'inotify instances of this user are used up: raise fs.inotify.max_user_instances',
  ENOSPC: 'inotify watches of this user are used up: raise fs.inotify.max_user_watches',
};

/** Paths of this machine's disk, that need not exist. */
export function watchPaths(
  paths: readonly string[],
  onChange: (path: string) => void,
  openWatcher: WatchDirectory = watchDirectory,
): PathWatch {
  const watchers = new Map<string, ReturnType<WatchDirectory>>();
  let closed = false;
  let blocked: string | undefined;

  function arm(): void {
    blocked = undefined;
    const needed = new Set(paths.flatMap(directoriesOf));
    for (const [directory, watcher] of watchers) {
      if (!needed.has(directory)) close(directory, watcher);
    }
    for (const directory of needed) if (!watchers.has(directory)) open(directory);
  }

  function open(directory: string): void {
    try {
      const watcher = openWatcher(directory, (_event, name) => changed(directory, name));
      watcher.on('error', () => close(directory, watcher));
      watchers.set(directory, watcher);
    } catch (error) {
      // The directory may have been removed meanwhile. The scan finds what is not watched.
      blocked ??= USED_UP[systemCode(error) ?? ''];
    }
  }

  function close(directory: string, watcher: ReturnType<WatchDirectory>): void {
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
    retry() {
      if (blocked !== undefined) arm();
      return blocked;
    },
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
