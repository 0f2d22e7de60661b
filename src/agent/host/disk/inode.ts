import type { BigIntStats } from 'node:fs';

/** Returns a text that is the same for every name of a file, and different for any two files that exist at the same time. */
export function inodeOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `${dev}-${ino}`;
}
