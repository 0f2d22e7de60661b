import { describe, expect, it } from 'vitest';
import {
  beyondKeep,
  inTheWay,
} from '../../../../../../src/controllers/hosting/drivers/etcd/backup/retention.ts';
import type { StoredBackup } from '../../../../../../src/controllers/hosting/drivers/etcd/backup/store.ts';

const MB = 1e6;

/** Backups of these sizes, oldest first: a, b, c. */
function backups(...sizes: readonly (number | undefined)[]): readonly StoredBackup[] {
  return sizes.map((bytes, index) => ({
    name: 'abcdef'.charAt(index),
    record: {
      format: 1,
      takenAt: '2030-01-01T00:00:00Z',
      etcdVersion: 'v3.6.8',
      revision: 1,
      keys: 1,
      ...(bytes === undefined ? {} : { bytes: bytes * MB }),
    },
  }));
}

describe('the backups that are removed', () => {
  it.each<readonly [number, number, string]>([
    [3, 1, 'ab'],
    [3, 2, 'a'],
    [3, 3, ''],
    [3, 9, ''],
    [0, 3, ''],
    [2, 0, 'a'],
  ])('HOS-32 of %i are the oldest when %i are kept', (count, keep, expected) => {
    const all = backups(...Array.from({ length: count }, () => 1));
    expect(beyondKeep(all, keep).join('')).toBe(expected);
  });

  it.each<readonly [string, readonly (number | undefined)[], number, string]>([
    ['none when there is room', [50, 50, 50], 100, ''],
    ['the oldest when that is enough', [50, 50, 50], 60, 'a'],
    ['two when that is needed', [50, 50, 50], 10, 'ab'],
    ['none when even all but the newest are too few', [50, 50, 50], 0 - 1, ''],
    ['never the only one', [500], 10, ''],
    ['never the newest one', [10, 500], 10, ''],
    ['none whose size is unknown, alone', [undefined, 50], 10, ''],
  ])('HOS-32 make room for the next one: %s', (_, sizes, freeMB, expected) => {
    const found = inTheWay(backups(...sizes), { freeBytes: freeMB * MB, neededBytes: 100 * MB });
    expect(found.join('')).toBe(expected);
  });
});
