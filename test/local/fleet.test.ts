import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startLocalFleet, stopLocalFleet } from '../../src/local/fleet.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { tempFolder } from '../support/temp.ts';

describe('startLocalFleet', () => {
  it('fails on an unsupported platform without creating files', async () => {
    const dir = join(tempFolder('other'), 'fleet');
    const host = { platform: 'darwin', arch: 'arm64' };
    const quiet = { env: {}, clock: createSystemClock(), onStep: () => undefined, warn: () => undefined };
    const promise = startLocalFleet({ ...quiet, dir, host }, () => Promise.resolve());
    await expect(promise).rejects.toMatchObject({ code: 'Unsupported', where: 'darwin/arm64' });
    expect(existsSync(dir)).toBe(false);
  });
});

describe('stopLocalFleet', () => {
  it('FST-10 also wipes the half file of a writer that was killed: it may hold keys', async () => {
    const dir = tempFolder('wiped');
    for (const name of ['state.json', '.0123456789ab.tmp']) writeFileSync(join(dir, name), '');
    await wipe(dir);
    expect(existsSync(dir)).toBe(false);
  });

  it('wipes no file of another program', async () => {
    const dir = tempFolder('wiped');
    for (const name of ['state.json', 'notes.txt', '.mine.tmp']) writeFileSync(join(dir, name), '');
    await wipe(dir);
    expect(readdirSync(dir).toSorted()).toEqual(['.mine.tmp', 'notes.txt']);
  });
});

async function wipe(dir: string): Promise<void> {
  await stopLocalFleet({ dir, clock: createSystemClock(), onStep: () => undefined, wipe: true });
}
