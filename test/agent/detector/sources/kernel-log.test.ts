import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createKernelLog } from '../../../../src/agent/detector/sources/kernel-log.ts';
import type { LogSource } from '../../../../src/agent/detector/sources/log-source.ts';
import { followLog } from '../../../support/agent/followed-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';
import { NOW, virtualClock } from '../../../support/virtual-clock.ts';

describe('kernel log', () => {
  it('adds the time since the boot to the time of the boot', async () => {
    const source = kernelLog('6,339,5000000,-;task hung\n');
    // The machine runs for ten seconds: the record came five seconds ago.
    const log = followLog(source, { since: new Date(NOW.getTime() - 5000) });
    expect(await log.lines(1)).toEqual(['task hung']);
    expect(log.position()).toBe('339');
  });

  it('leaves out earlier records', async () => {
    const source = kernelLog('6,339,5000000,-;task hung\n');
    const log = followLog(source, { since: new Date(NOW.getTime() - 4999) });
    await log.stop();
    expect(await log.lines(0)).toEqual([]);
  });

  it('reads records that come after the clock was set back', async () => {
    const path = `${tempFolder()}/kmsg`;
    writeFileSync(path, '');
    const clock = virtualClock();
    const source = createKernelLog({ path, clock, uptimeMs: () => 10_000 });
    const log = followLog(source, { since: new Date(NOW.getTime() - 5000) });
    await eventually(async () => log.wasOpened() || undefined, 'the log was not opened');
    clock.jumpWall(-3_600_000);
    appendFileSync(path, '6,339,9000000,-;task hung\n');
    await eventually(async () => {
      await clock.advanceToNext();
      return log.position();
    }, 'the record did not come');
    expect(await log.lines(0)).toEqual(['task hung']);
  });

  it('does not count as opened when it can be opened but not read', async () => {
    const path = `${tempFolder()}/kmsg`;
    mkdirSync(path);
    const log = followLog(createKernelLog({ path, clock: virtualClock(), uptimeMs: () => 0 }));
    expect(await log.ended).toMatchObject({ code: 'EISDIR' });
    expect(log.wasOpened()).toBe(false);
  });

  it('fails where the kernel log cannot be opened', async () => {
    const source = createKernelLog({
      path: `${tempFolder()}/kmsg`,
      clock: virtualClock(),
      uptimeMs: () => 0,
    });
    expect(await followLog(source).ended).toMatchObject({ code: 'ENOENT' });
  });
});

/** A file gives its only record with the first read, and nothing after it. */
function kernelLog(record: string): LogSource {
  const path = `${tempFolder()}/kmsg`;
  writeFileSync(path, record);
  return createKernelLog({ path, clock: virtualClock(), uptimeMs: () => 10_000 });
}
