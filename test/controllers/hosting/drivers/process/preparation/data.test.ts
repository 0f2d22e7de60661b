import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  dataOwner,
  markData,
  readDataState,
  setRestAside,
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

  it('HOS-33 moves what is left without its log aside, and nothing where only the mark is there', async () => {
    const folder = write(tempFolder('data'));
    await markData(folder, UNMARKED);
    mkdirSync(join(folder, 'member', 'snap'));
    rmSync(join(folder, 'member', 'wal'), { recursive: true });
    await setRestAside(folder);
    expect(readdirSync(folder)).toEqual(['member.old']);
    expect(readdirSync(join(folder, 'member.old')).toSorted()).toEqual(['kubenode-owner', 'snap']);
    await markData(folder, OWN);
    await setRestAside(folder);
    expect(readdirSync(folder).toSorted()).toEqual(['member', 'member.old']);
    mkdirSync(join(folder, 'member', 'other'));
    await setRestAside(folder);
    expect(readdirSync(join(folder, 'member.old')).toSorted()).toEqual(['kubenode-owner', 'other']);
    await setRestAside('/does/not/exist');
  });

  it('HOS-33 has another owner for each member, and the first has the one that it had alone', () => {
    const record = { format: 1, cluster: 'ci', uid: 'a', version: 'v1.36.3', isDestroying: false } as const;
    expect([0, 1, 2].map((index) => dataOwner(record, index))).toEqual([
      { uid: 'a', isMarked: false },
      { uid: 'a/1', isMarked: true },
      { uid: 'a/2', isMarked: true },
    ]);
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
