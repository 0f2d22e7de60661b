import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  backupsFolder,
  listBackups,
  nextBackupName,
  removeBackup,
  removeLeftovers,
} from '../../../../../../src/controllers/hosting/drivers/etcd/backup/store.ts';
import { NOW } from '../../../../../support/builders.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const RECORD = { format: 1, takenAt: NOW.toISOString(), etcdVersion: 'v3.6.8', revision: 1, keys: 1 };
const [FIRST, SECOND] = ['000007-20300101T000000Z', '000012-20200101T000000Z'];

function folderWith(...names: readonly string[]): string {
  const folder = join(tempFolder('backups'), 'ci');
  mkdirSync(folder);
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'snapshot.json'), JSON.stringify(RECORD));
  }
  return folder;
}

describe('the folder of backups', () => {
  it('HOS-32 is beside the control planes, so that it outlives them, and has one folder for each Cluster', () => {
    expect(backupsFolder('/hosting', 'ci')).toBe('/hosting/backups/ci');
  });

  it('HOS-32 lists what is complete, in the order of numbers and not of clocks', async () => {
    const folder = folderWith(SECOND, FIRST, `${SECOND}.tmp`, `${FIRST}.removed`, 'lost+found');
    writeFileSync(join(folder, 'a file'), '');
    mkdirSync(join(folder, '000013-20300101T000000Z'));
    expect((await listBackups(folder)).map(({ name }) => name)).toEqual([FIRST, SECOND]);
    expect(await listBackups('/does/not/exist')).toEqual([]);
  });

  it('HOS-32 never uses a number again, not even that of a backup that is damaged', async () => {
    const folder = folderWith(FIRST);
    mkdirSync(join(folder, SECOND));
    expect(await nextBackupName(folder, new Date('2026-11-27T21:05:09.123Z'))).toBe(
      '000013-20261127T210509Z',
    );
    expect(await nextBackupName('/does/not/exist', NOW)).toMatch(/^000001-/);
  });

  it('HOS-32 removes a backup, what a crash left of another, and nothing of others', async () => {
    const folder = folderWith(FIRST, SECOND, `${SECOND}.tmp`, `${FIRST}.removed`, 'notes.tmp');
    await removeLeftovers(folder);
    expect(readdirSync(folder).toSorted()).toEqual([FIRST, SECOND, 'notes.tmp']);
    await removeBackup(folder, FIRST);
    await removeBackup(folder, FIRST);
    expect(existsSync(join(folder, FIRST))).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual([SECOND, 'notes.tmp']);
  });
});
