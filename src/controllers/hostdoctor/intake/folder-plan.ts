/** Decides which files of the folder of events are read in a scan. Pure. */

export interface EventFile {
  readonly name: string;
  /** Inode, size and time of change: it differs after each write. */
  readonly stamp: string;
}

export interface KnownFile {
  readonly stamp: string;
  /** Done: its report is recorded or refused. Waiting: its Machine does not exist yet, or it cannot be read. */
  readonly state: 'New' | 'Done' | 'Waiting';
  /** When a waiting file is read again, in monotonic milliseconds. */
  readonly retryAtMs?: number;
  /** Why it waits. */
  readonly because?: string;
}

export interface FolderPlan {
  /** The files that are read now, those that were never read first. */
  readonly read: readonly EventFile[];
  readonly known: ReadonlyMap<string, KnownFile>;
  /** The number of files that are ignored, because the folder has more than the limit. */
  readonly ignored: number;
}

/** Ten racks, each with an event for each of its machines. */
const MAX_FILES = 1000;
/** Each file costs three reads and a write of the API server. */
const MAX_READ = 50;

/** A file that was written since the last scan may be incomplete: it is read when it was the same in two scans. */
export function planScan(
  files: readonly EventFile[],
  before: ReadonlyMap<string, KnownFile>,
  nowMs: number,
): FolderPlan {
  const considered = files.filter(({ name }) => isEventFile(name)).toSorted(byName);
  const listed = considered.slice(0, MAX_FILES);
  const known = new Map(listed.map((file) => [file.name, knownNow(file, before)]));
  const settled = listed.filter(({ name, stamp }) => before.get(name)?.stamp === stamp);
  const fresh = settled.filter(({ name }) => known.get(name)?.state === 'New');
  const due = settled.filter(({ name }) => isDue(known.get(name), nowMs));
  return { read: [...fresh, ...due].slice(0, MAX_READ), known, ignored: considered.length - listed.length };
}

function knownNow({ name, stamp }: EventFile, before: ReadonlyMap<string, KnownFile>): KnownFile {
  const known = before.get(name);
  return known?.stamp === stamp ? known : { stamp, state: 'New' };
}

function isDue(file: KnownFile | undefined, nowMs: number): boolean {
  return file?.state === 'Waiting' && (file.retryAtMs ?? 0) <= nowMs;
}

/** Hidden files are those that their writers rename when they are complete. */
function isEventFile(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.');
}

function byName(a: EventFile, b: EventFile): number {
  return a.name < b.name ? -1 : 1;
}
