/** Decides which files CleanDisk may delete. Pure. In doubt a file stays. */
import type { FileStat } from '../../host/port.ts';

export interface FoundFile {
  readonly path: string;
  readonly stat: FileStat;
}

export type FileTarget = 'rotatedLogs' | 'coreDumps';

/** Matches the names of files that may be deleted: a log that is written now, a journal or a database has no such name. */
const NAMES: Readonly<Record<FileTarget, RegExp>> = {
  rotatedLogs: /.(?:[.-]\d{1,3}|[.-]\d{8}(?:-\d{6})?|\.old)(?:\.(?:gz|xz|bz2|zst))?$|.\.(?:gz|xz|bz2|zst)$/,
  coreDumps: /^core[.-].+|.\.(?:core|dmp)$/,
};
/** The minimum age of a file that is deleted: what a program still writes or reads is not this old. */
const LEAST_AGE_SECONDS = 300;

export interface SelectOptions {
  readonly target: FileTarget;
  readonly minAgeSeconds: number | undefined;
  readonly openInodes: ReadonlySet<string>;
  readonly now: Date;
}

/** Returns why the file stays; undefined when it may be deleted. */
export function keepReason({ path, stat }: FoundFile, options: SelectOptions): string | undefined {
  if (stat.type !== 'File') return 'not a file';
  if (!NAMES[options.target].test(path.slice(path.lastIndexOf('/') + 1))) return 'another name';
  if (stat.names !== 1) return 'it has other names';
  if (options.openInodes.has(stat.inode)) return 'it is open';
  return isOldEnough(stat, options) ? undefined : 'it is too young';
}

/** Tells whether a file is old enough. A time in the future is that of a wrong clock: its age is not known. */
function isOldEnough({ modifiedAt }: FileStat, { minAgeSeconds = 0, now }: SelectOptions): boolean {
  const ageSeconds = (now.getTime() - modifiedAt.getTime()) / 1000;
  return ageSeconds >= Math.max(minAgeSeconds, LEAST_AGE_SECONDS);
}

/** Returns the files to delete: oldest first, as many as the limit allows. A file that is larger than what is left stays. */
export function withinLimit(files: readonly FoundFile[], maxBytes: number): readonly FoundFile[] {
  let left = maxBytes;
  const oldestFirst = files.toSorted(
    (a, b) => a.stat.modifiedAt.getTime() - b.stat.modifiedAt.getTime() || (a.path < b.path ? -1 : 1),
  );
  return oldestFirst.filter(({ stat }) => {
    if (stat.sizeBytes > left) return false;
    left -= stat.sizeBytes;
    return true;
  });
}
