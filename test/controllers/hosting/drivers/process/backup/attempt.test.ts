import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readAttempt,
  recordAttempt,
} from '../../../../../../src/controllers/hosting/drivers/process/backup/attempt.ts';
import { NOW } from '../../../../../support/builders.ts';
import { DRILLED } from '../../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const LATER = new Date(+NOW + 300_000);

function fail(message: string): () => Promise<void> {
  return () => Promise.reject(new Error(message));
}

function endedBy(stop: AbortController): () => Promise<void> {
  return async () => {
    stop.abort();
    stop.signal.throwIfAborted();
  };
}

describe('an attempt to take a backup', () => {
  it('HOS-32 counts as failed until it ends, so that a crash in it is not repeated at once', async () => {
    const file = join(tempFolder('attempt'), 'backup.json');
    await recordAttempt(file, NOW, async () => {
      expect(await readAttempt(file)).toEqual({ at: NOW, problem: 'it was interrupted', since: NOW });
    });
    expect(await readAttempt(file)).toEqual({ at: NOW });
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('HOS-32 has its problem, and since when all have failed, until one does not', async () => {
    const file = join(tempFolder('attempt'), 'backup.json');
    await expect(recordAttempt(file, NOW, fail('no disk'))).rejects.toThrow('no disk');
    await expect(recordAttempt(file, LATER, fail('no etcd'))).rejects.toThrow('no etcd');
    expect(await readAttempt(file)).toEqual({ at: LATER, problem: 'no etcd', since: NOW });
    await recordAttempt(file, LATER, async () => undefined);
    expect(await readAttempt(file)).toEqual({ at: LATER });
  });

  it('HOS-32 has the problem of the one before until it ends, also when several were interrupted', async () => {
    const file = join(tempFolder('attempt'), 'backup.json');
    await expect(recordAttempt(file, NOW, fail('no disk'))).rejects.toThrow('no disk');
    const stop = new AbortController();
    const interrupted = { problem: 'it was interrupted', since: NOW, former: 'no disk' };
    for (const at of [NOW, LATER]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(recordAttempt(file, at, endedBy(stop), stop.signal)).rejects.toThrow('aborted');
    }
    expect(await readAttempt(file)).toEqual({ at: LATER, ...interrupted });
    await expect(recordAttempt(file, LATER, fail('no etcd'))).rejects.toThrow('no etcd');
    expect(await readAttempt(file)).toEqual({ at: LATER, problem: 'no etcd', since: NOW });
  });

  it('HOS-32 has what a drill has found that did not fail', async () => {
    const file = join(tempFolder('attempt'), 'drill.json');
    await recordAttempt(file, NOW, () => Promise.resolve(DRILLED));
    expect(await readAttempt(file)).toEqual({ at: NOW, checked: DRILLED });
  });

  it('HOS-32 counts as none when its record cannot be read', async () => {
    const file = join(tempFolder('attempt'), 'backup.json');
    expect(await readAttempt(file)).toBeUndefined();
    writeFileSync(file, '{');
    expect(await readAttempt(file)).toBeUndefined();
  });
});
