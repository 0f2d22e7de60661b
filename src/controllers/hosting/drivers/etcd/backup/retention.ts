/** Decides which backups are removed. Pure. The newest one always stays: all others may be useless when it is needed. */
import type { StoredBackup } from './store.ts';

/** Returns the names of the oldest ones beyond the number that is kept. */
export function beyondKeep(backups: readonly StoredBackup[], keep: number): readonly string[] {
  return backups.slice(0, -Math.max(keep, 1)).map(({ name }) => name);
}

/** Returns the names of the oldest ones without which a new one fits on the disk. None, if it does not fit even then: they would be lost for nothing. */
export function inTheWay(
  backups: readonly StoredBackup[],
  { freeBytes, neededBytes }: { readonly freeBytes: number; readonly neededBytes: number },
): readonly string[] {
  const names: string[] = [];
  let free = freeBytes;
  for (const { name, record } of backups.slice(0, -1)) {
    if (free >= neededBytes) break;
    names.push(name);
    free += record.bytes ?? 0;
  }
  return free >= neededBytes ? names : [];
}
