import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  markData,
  readDataState,
} from '../../../../../../src/controllers/hosting/drivers/process/preparation/data.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const OWN = { uid: 'a', isMarked: true };
const UNMARKED = { uid: 'a', isMarked: false };
const OTHER = { uid: 'b', isMarked: true };

/** As etcd does when it starts for the first time. */
function write(folder: string): string {
  mkdirSync(join(folder, 'member', 'wal'), { recursive: true });
  return folder;
}

describe('the data of etcd', () => {
  it('is none where there is no folder, and where etcd never started', async () => {
    expect(await readDataState('/does/not/exist', OWN)).toBe('Empty');
    const folder = tempFolder('data');
    await markData(folder, UNMARKED);
    expect(await readDataState(folder, OWN)).toBe('Empty');
    expect(statSync(join(folder, 'member')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'member', 'kubenode-owner')).mode & 0o777).toBe(0o600);
  });

  it('is of the Cluster that marked it, and of no other', async () => {
    const folder = tempFolder('data');
    await markData(folder, UNMARKED);
    write(folder);
    expect(await readDataState(folder, OWN)).toBe('Own');
    expect(await readDataState(folder, OTHER)).toBe('Other');
    await markData(folder, OTHER);
    expect(await readDataState(folder, OWN)).toBe('Own');
  });

  it('of an earlier version of hosting has no mark, and gets one', async () => {
    const folder = write(tempFolder('data'));
    expect(await readDataState(folder, UNMARKED)).toBe('Own');
    await markData(folder, UNMARKED);
    expect(await readDataState(folder, OWN)).toBe('Own');
  });

  it('without a mark is of others where it was marked before, and stays theirs', async () => {
    const folder = write(tempFolder('data'));
    expect(await readDataState(folder, OWN)).toBe('Other');
    await markData(folder, OWN);
    expect(await readDataState(folder, OWN)).toBe('Other');
  });
});
