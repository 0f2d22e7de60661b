/** What the containers of a Job do with the files of backups. Those that ask an etcd run with the real one in test/cluster. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyBackup } from '../../../../../../src/controllers/hosting/drivers/etcd/backup/steps.ts';
import { describeFiles } from '../../../../../../src/controllers/hosting/drivers/etcd/describe-files.ts';
import { writeSnapshotRecord } from '../../../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const NAMES = ['000001-20300101T000000Z', '000002-20300102T000000Z'];
const TARGET = { cluster: 'ci', kubernetes: 'v1.36.3', etcd: 'v3.6.8' };
const clock = createSystemClock();
const { signal } = new AbortController();

async function withBackups(): Promise<string> {
  const folder = tempFolder('backups');
  for (const name of NAMES) {
    const data = join(folder, name, 'data');
    for (const part of ['snap', 'wal']) {
      mkdirSync(join(data, 'member', part), { recursive: true });
      writeFileSync(join(data, 'member', part, 'file'), `${name} ${part}`);
    }
    const about = { cluster: 'ci', kubernetesVersion: 'v1.36.3', etcdVersion: 'v3.6.8' };
    const taken = { format: 1, takenAt: '2030-01-01T00:00:00.000Z', revision: 9, keys: 5 } as const;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await writeSnapshotRecord(join(folder, name), { ...taken, ...about, ...(await describeFiles(data)) });
  }
  return folder;
}

function copy(folder: string, into: string, from: string, freeBytes = 1e9): Promise<string> {
  const tools = { clock, signal, freeBytes: async () => freeBytes };
  return copyBackup({ folder, from, into, target: TARGET }, tools);
}

describe('the copy of a backup that an etcd opens', () => {
  it('HOS-32 is that of the newest or of the one that is named, in place of what was there', async () => {
    const [folder, into] = [await withBackups(), join(tempFolder('copy'), 'restore')];
    expect(await copy(folder, into, 'latest')).toBe(NAMES[1]);
    writeFileSync(join(into, 'left'), '');
    expect(await copy(folder, into, NAMES[0] ?? '')).toBe(NAMES[0]);
    expect(readdirSync(into)).toEqual(['member']);
    expect(readFileSync(join(into, 'member', 'wal', 'file'), 'utf8')).toBe(`${NAMES[0]} wal`);
  });

  it('HOS-32 is not made of a backup that is missing, or was changed, or without room for it', async () => {
    const [folder, into] = [await withBackups(), join(tempFolder('copy'), 'restore')];
    await expect(copy(folder, into, '000009-20300109T000000Z')).rejects.toMatchObject({
      code: 'BackupMissing',
    });
    await expect(copy(folder, into, 'latest', 1e6)).rejects.toThrow(/full|room|free/);
    writeFileSync(join(folder, NAMES[1] ?? '', 'data', 'member', 'wal', 'file'), 'changed');
    await expect(copy(folder, into, 'latest')).rejects.toMatchObject({ code: 'BackupUnusable' });
  });
});
