import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startLocalFleet } from '../../src/local/fleet.ts';
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
