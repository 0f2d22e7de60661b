import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { meterSharedServer, startMeter } from './meter.ts';

/** Uses so much CPU, however long that takes beside other processes. */
const BUSY = 'while (process.cpuUsage().user < 300_000);';

// Only Linux has /proc.
describe.runIf(process.platform === 'linux')('the meter of a test file', () => {
  // The meter of this file counts on where the last test left it.
  afterEach(() => void startMeter());

  it('counts the programs that ended since it began', () => {
    const read = startMeter();
    spawnSync(process.execPath, ['-e', BUSY]);
    expect(read().programSeconds).toBeGreaterThan(0.1);
    expect(startMeter()().programSeconds).toBe(0);
  });

  it('counts of a shared server only what was used meanwhile, and nothing of one that ends later', () => {
    const folder = tempFolder('run');
    const read = startMeter();
    const used = meterSharedServer(process.pid, { isUsedBefore: true, folder });
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < 200_000);
    used.givenBack();
    const { programSeconds } = read();
    const { user, system } = process.cpuUsage();
    expect(programSeconds).toBeGreaterThan(0.05);
    expect(programSeconds).toBeLessThan((user + system) / 1e6);

    // Another worker ended a server of this one, which the kernel counts here.
    const later = startMeter();
    spawnSync(process.execPath, ['-e', BUSY]);
    writeFileSync(join(folder, `ended-${process.pid}-1`), '100');
    expect(later().programSeconds).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('records the end of a shared server for the worker that started it', () => {
    const folder = tempFolder('run');
    meterSharedServer(process.pid, { isUsedBefore: false, folder }).ending();
    expect(readdirSync(folder)).toEqual([`ended-${process.ppid}-${process.pid}`]);
  });
});
