/** The entries of a file system in memory: paths, links and sizes. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { HostError } from '../errors.ts';
import type { FileAttributes, FileStat } from '../port.ts';

export type MemoryEntry =
  | ({ readonly type: 'File'; readonly content: Uint8Array } & FileAttributes)
  | ({ readonly type: 'Directory' } & FileAttributes)
  | { readonly type: 'Link'; readonly target: string };

type FileEntry = Extract<MemoryEntry, { readonly type: 'File' }>;

const ROOT_OWNER = 'root:root';
/** Files in memory have no times. */
const OLD = new Date(0);
const DIRECTORY: MemoryEntry = { type: 'Directory', mode: '0755', owner: ROOT_OWNER };
/** The kernel takes more links in a row than this for a circle, too. */
const MAX_LINKS = 40;

export class MemoryTree {
  readonly #entries = new Map<string, MemoryEntry>([['/', DIRECTORY]]);
  readonly #capacityBytes: number;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  get(path: string): MemoryEntry | undefined {
    return this.#entries.get(path);
  }

  /** Follows links, as open(2) does. */
  openFile(path: string): FileEntry | undefined {
    let entry = this.#entries.get(this.#throughParents(path));
    for (let links = 0; entry?.type === 'Link' && links < MAX_LINKS; links += 1) {
      entry = this.#entries.get(this.#throughParents(entry.target));
    }
    return entry?.type === 'File' ? entry : undefined;
  }

  set(path: string, entry: MemoryEntry): void {
    if (entry.type === 'File' && entry.content.length > this.freeBytes()) {
      throw new HostError('DiskFull', `the disk is full: ${path} could not be written`, { where: path });
    }
    for (let parent = dirname(path); !this.#entries.has(parent); parent = dirname(parent)) {
      this.#entries.set(parent, DIRECTORY);
    }
    this.#entries.set(path, entry);
  }

  children(directory: string): readonly string[] {
    const paths = [...this.#entries.keys()].filter((path) => path !== '/' && dirname(path) === directory);
    return paths.map((path) => path.slice(directory.length + 1)).toSorted();
  }

  remove(path: string): void {
    for (const each of this.#below(path)) this.#entries.delete(each);
  }

  rename(from: string, to: string): void {
    if (!this.#entries.has(from)) throw notFound(from);
    const moved = this.#below(from).map((path) => [path, this.#entries.get(path)] as const);
    this.remove(to);
    this.remove(from);
    for (const [path, entry] of moved) if (entry) this.set(to + path.slice(from.length), entry);
  }

  freeBytes(): number {
    return this.#capacityBytes - this.usedBytes();
  }

  usedBytes(): number {
    const sizes = [...this.#entries.values()].map((each) => (each.type === 'File' ? each.content.length : 0));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Returns every path with a text that differs when anything about it differs. */
  describe(): ReadonlyMap<string, string> {
    const sorted = [...this.#entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return new Map(sorted.map(([path, entry]) => [path, describeEntry(entry)]));
  }

  #below(path: string): readonly string[] {
    return [...this.#entries.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
  }

  /** Returns the same path without links among its directories. */
  #throughParents(path: string): string {
    for (let parent = dirname(path); parent !== '/'; parent = dirname(parent)) {
      const entry = this.#entries.get(parent);
      if (entry?.type === 'Link') return entry.target + path.slice(parent.length);
    }
    return path;
  }
}

export function statOf(entry: MemoryEntry): FileStat {
  const revision = describeEntry(entry);
  const known = { revision, modifiedAt: OLD, names: 1, inode: revision };
  if (entry.type === 'Link') {
    return { ...known, type: 'Link', mode: '0777', owner: ROOT_OWNER, sizeBytes: 0, target: entry.target };
  }
  const { type, mode, owner } = entry;
  return { ...known, type, mode, owner, sizeBytes: entry.type === 'File' ? entry.content.length : 0 };
}

export function notFound(path: string): HostError {
  return new HostError('NoAccess', `${path} does not exist`, { where: path });
}

function describeEntry(entry: MemoryEntry): string {
  if (entry.type === 'Link') return `link to ${entry.target}`;
  if (entry.type === 'Directory') return `directory ${entry.mode}`;
  return `file ${entry.mode} ${entry.owner} ${createHash('sha256').update(entry.content).digest('hex')}`;
}
