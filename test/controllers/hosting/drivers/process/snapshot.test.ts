import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSnapshot } from '../../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';
import { takeSnapshot } from '../../../../../src/controllers/hosting/drivers/process/snapshot.ts';
import { createSystemClock } from '../../../../../src/os/system-clock.ts';
import { tempFolder } from '../../../../support/temp.ts';

const DATABASE_BYTES = 50e6;
const SOURCE = { endpoint: { url: 'https://127.0.0.1:1', caPem: '' }, pkiFolder: '/none' };
const TOOLS = { path: (name: string) => name, clock: createSystemClock(), etcdVersion: 'v3.6.8' };

/** Returns the folder of an etcd that is stopped, with a database of that size, and a snapshot that was taken before. */
function folders(): { readonly dataFolder: string; readonly folder: string } {
  const root = tempFolder('snapshot');
  const [dataFolder, folder] = [join(root, 'etcd'), join(root, 'snapshot')];
  mkdirSync(join(dataFolder, 'member', 'snap'), { recursive: true });
  writeFileSync(join(dataFolder, 'member', 'snap', 'db'), '');
  truncateSync(join(dataFolder, 'member', 'snap', 'db'), DATABASE_BYTES);
  mkdirSync(folder);
  writeFileSync(join(folder, 'snapshot.json'), 'before');
  return { dataFolder, folder };
}

describe('a snapshot that is not taken', () => {
  it.each([
    ['the database does not fit twice', 299e6, 'has 299 MB left, 300 MB are needed'],
    ['etcd does not answer', 300e6, 'no valid snapshot of etcd'],
  ])('HOS-31 keeps the one before when %s', async (_, freeBytes, message) => {
    const { dataFolder, folder } = folders();
    const tools = { ...TOOLS, freeBytes: () => Promise.resolve(freeBytes) };
    await expect(takeSnapshot({ ...SOURCE, dataFolder }, folder, tools)).rejects.toThrow(message);
    expect(readFileSync(join(folder, 'snapshot.json'), 'utf8')).toBe('before');
    expect(existsSync(`${folder}.tmp`)).toBe(false);
  });

  it('counts a record that cannot be read as no snapshot', async () => {
    const { folder } = folders();
    expect(await readSnapshot(folder)).toBeUndefined();
    expect(await readSnapshot('/does/not/exist')).toBeUndefined();
  });
});
