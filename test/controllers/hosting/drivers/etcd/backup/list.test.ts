import { expect, it } from 'vitest';
import {
  backupsOf,
  formatBackupList,
  parseBackupList,
} from '../../../../../../src/controllers/hosting/drivers/etcd/backup/list.ts';

const NAMES = Array.from(
  { length: 100 },
  (_, index) => `${String(index + 1).padStart(6, '0')}-20300101T000000Z`,
);

it('HOS-32 describes a hundred backups in the message of a container, oldest first', () => {
  const list = { names: NAMES, takenAt: '2030-01-01T00:00:00.000Z', request: 'x'.repeat(64) };
  const text = formatBackupList(list);
  expect(Buffer.byteLength(text)).toBeLessThan(4096);
  expect(parseBackupList(text)).toEqual(list);
  expect(backupsOf(list).map(({ name }) => name)).toEqual(NAMES);
  expect(backupsOf({ ...list, names: [] })).toEqual([]);
});

it.each([undefined, '', 'error: no room', '{}', '{"names":["latest"],"takenAt":"2030-01-01T00:00:00Z"}'])(
  'HOS-32 takes nothing else for a list of backups: %s',
  (text) => {
    expect(parseBackupList(text)).toBeUndefined();
  },
);
