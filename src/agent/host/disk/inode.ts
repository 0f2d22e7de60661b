import type { BigIntStats } from 'node:fs';

/** The same for every name of a file, and different for any two files that exist at the same time. */
export function inodeOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `${dev}-${ino}`;
}
