/** What the containers of a Job do with the files of backups. Those that ask an etcd run with the real one in test/cluster. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  copyBackup,
  copyForBackup,
  placeBackup,
} from '../../../../../../src/controllers/hosting/drivers/etcd/backup/steps.ts';
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

interface CopyParts {
  readonly freeBytes?: number;
  readonly dataFolder?: string;
}

function copy(folder: string, into: string, from: string, parts: CopyParts = {}): Promise<string> {
  const { freeBytes = 1e9, dataFolder } = parts;
  const tools = { clock, signal, freeBytes: async () => freeBytes };
  return copyBackup({ folder, from, into, target: TARGET, dataFolder }, tools);
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
    await expect(copy(folder, into, 'latest', { freeBytes: 1e6 })).rejects.toThrow(/full|room|free/);
    writeFileSync(join(folder, NAMES[1] ?? '', 'data', 'member', 'wal', 'file'), 'changed');
    await expect(copy(folder, into, 'latest')).rejects.toMatchObject({ code: 'BackupUnusable' });
  });
});

/** The data folder of an etcd that has data, of that backup or without a mark. */
function withData(name?: string): string {
  const dataFolder = tempFolder('data');
  mkdirSync(join(dataFolder, 'member'));
  writeFileSync(join(dataFolder, 'member', 'db'), 'theirs');
  if (name !== undefined) writeFileSync(join(dataFolder, 'member', 'kubenode-restored'), `${name}\n`);
  return dataFolder;
}

/** Puts the newest backup there without an etcd that could be asked. Resolves to what is reported. */
async function place(folder: string, into: string, dataFolder: string): Promise<readonly string[]> {
  const etcd = {
    pkiFolder: tempFolder('pki'),
    url: 'https://127.0.0.1:1',
    peerUrl: '',
    etcdVersion: 'v3.6.8',
  };
  const placed: string[] = [];
  const onPlaced = async (name: string): Promise<void> => void placed.push(name);
  const request = { ...etcd, folder, from: 'latest', cluster: 'ci', into, dataFolder, onPlaced };
  await placeBackup(request, { clock, signal });
  return placed;
}

describe('the room for backups', () => {
  it('HOS-32 is once the size of a backup for a test, and twice for a restore', async () => {
    const [folder, into] = [await withBackups(), join(tempFolder('copy'), 'restore')];
    const { bytes } = await describeFiles(join(folder, NAMES[1] ?? '', 'data'));
    const freeBytes = 200e6 + bytes;
    expect(await copy(folder, into, 'latest', { freeBytes })).toBe(NAMES[1]);
    const restored = copy(folder, into, 'latest', { freeBytes, dataFolder: tempFolder('data') });
    await expect(restored).rejects.toThrow('the disk is full');
  });

  it('HOS-32 is measured after what an attempt has left was removed', async () => {
    const folder = await withBackups();
    const into = join(folder, 'check');
    const left = [join(folder, 'next'), into, `${into}.next`];
    for (const each of left) mkdirSync(each);
    const freeBytes = async (): Promise<number> => (existsSync(`${into}.next`) ? 0 : 1e9);
    await copyBackup({ folder, from: 'latest', into, target: TARGET }, { clock, signal, freeBytes });
    expect(readdirSync(folder).toSorted()).toEqual([...NAMES, 'check']);
  });

  it('HOS-32 is enough for the next drill, too, after a backup was taken', async () => {
    const [folder, dataFolder] = [await withBackups(), tempFolder('data')];
    mkdirSync(join(dataFolder, 'member', 'snap'), { recursive: true });
    writeFileSync(join(dataFolder, 'member', 'snap', 'db'), '');
    mkdirSync(join(folder, 'next'));
    const { bytes } = await describeFiles(join(folder, NAMES[0] ?? '', 'data'));
    const etcd = { pkiFolder: tempFolder('pki'), url: 'https://127.0.0.1:1' };
    const request = { ...etcd, folder, dataFolder, about: { cluster: 'ci', kubernetesVersion: 'v1.36.3' } };
    // The database has room, and the log that the backup before has does not.
    const tools = { clock, signal, etcdVersion: 'v3.6.8', freeBytes: async () => 200e6 + bytes };
    await expect(copyForBackup(request, tools)).rejects.toThrow('no certificate');
    expect(readdirSync(folder)).toEqual([NAMES[1]]);
  });
});

describe('a backup for an etcd that has data', () => {
  it.each([
    ['without a mark', undefined, /^etcd has data already: 000002-.* does not replace them/],
    ['of another backup', NAMES[0], /^etcd has the data of backup 000001-.* already/],
  ])('HOS-32 is refused in each step, and the data stay: %s', async (_, name, expected) => {
    const [folder, into] = [await withBackups(), join(tempFolder('copy'), 'restore')];
    const dataFolder = withData(name);
    await expect(copy(folder, into, 'latest', { dataFolder })).rejects.toThrow(expected);
    await expect(place(folder, into, dataFolder)).rejects.toThrow(expected);
    expect(readFileSync(join(dataFolder, 'member', 'db'), 'utf8')).toBe('theirs');
  });

  it('HOS-32 succeeds in each step where its data are in their place, and changes nothing', async () => {
    const [folder, into] = [await withBackups(), join(tempFolder('copy'), 'restore')];
    const dataFolder = withData(NAMES[1]);
    expect(await copy(folder, into, 'latest', { dataFolder })).toBe(NAMES[1]);
    expect(readdirSync(into)).toEqual([]);
    expect(await place(folder, into, dataFolder)).toEqual([NAMES[1]]);
    expect(readFileSync(join(dataFolder, 'member', 'db'), 'utf8')).toBe('theirs');
  });
});
