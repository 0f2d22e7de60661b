import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { downloadTo } from '../../../../src/agent/host/download/download.ts';
import { tempFolder } from '../../../support/temp.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const MACHINE = { clock: virtualClock(), registriesFile: '/none' };
const LIMITS = { maxBytes: 1000, timeoutMs: 60_000 };

it('blames the disk and not the URL when the disk is full', async () => {
  const source = join(tempFolder('download'), 'program');
  writeFileSync(source, 'program');
  const url = pathToFileURL(source).href;
  await expect(downloadTo(url, '/dev/full', LIMITS, MACHINE)).rejects.toMatchObject({
    code: 'DiskFull',
    message: 'the disk is full: /dev/full could not be written',
  });
  const missing = downloadTo(`${url}-2`, join(tempFolder('download'), 'to'), LIMITS, MACHINE);
  await expect(missing).rejects.toMatchObject({
    code: 'Download',
    message: expect.stringContaining('ENOENT') as string,
  });
});
