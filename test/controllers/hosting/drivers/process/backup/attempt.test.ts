import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readAttempt,
  recordAttempt,
} from '../../../../../../src/controllers/hosting/drivers/process/backup/attempt.ts';
import { NOW } from '../../../../../support/builders.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const LATER = new Date(+NOW + 300_000);

function fail(message: string): () => Promise<void> {
  return () => Promise.reject(new Error(message));
}

describe('an attempt to take a backup', () => {
  it('HOS-32 counts as failed until it ends, so that a crash in it is not repeated at once', async () => {
    const root = tempFolder('attempt');
    await recordAttempt(root, NOW, async () => {
      expect(await readAttempt(root)).toEqual({ at: NOW, problem: 'it was interrupted', since: NOW });
    });
    expect(await readAttempt(root)).toEqual({ at: NOW });
    expect(statSync(join(root, 'backup.json')).mode & 0o077).toBe(0);
  });

  it('HOS-32 has its problem, and since when all have failed, until one does not', async () => {
    const root = tempFolder('attempt');
    await expect(recordAttempt(root, NOW, fail('no disk'))).rejects.toThrow('no disk');
    await expect(recordAttempt(root, LATER, fail('no etcd'))).rejects.toThrow('no etcd');
    expect(await readAttempt(root)).toEqual({ at: LATER, problem: 'no etcd', since: NOW });
    await recordAttempt(root, LATER, async () => undefined);
    expect(await readAttempt(root)).toEqual({ at: LATER });
  });

  it('HOS-32 counts as none when its record cannot be read', async () => {
    const root = tempFolder('attempt');
    expect(await readAttempt(root)).toBeUndefined();
    writeFileSync(join(root, 'backup.json'), '{');
    expect(await readAttempt(root)).toBeUndefined();
  });
});
