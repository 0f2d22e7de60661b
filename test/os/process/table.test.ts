import { expect, it } from 'vitest';
import { listPids, readResidentBytes } from '../../../src/os/process/table.ts';

it('lists the processes of this machine by number', async () => {
  const pids = await listPids();
  expect(pids).toEqual(expect.arrayContaining([process.pid, process.ppid]));
  expect(pids.every((pid) => Number.isInteger(pid) && pid > 0)).toBe(true);
});

it('reads the memory of this process as Node does', async () => {
  const bytes = (await readResidentBytes(process.pid)) ?? 0;
  expect(bytes / process.memoryUsage.rss()).toBeGreaterThan(0.8);
  expect(bytes / process.memoryUsage.rss()).toBeLessThan(1.25);
});

it('knows nothing of an unused pid', async () => {
  expect(await readResidentBytes(2 ** 22 + 1)).toBeUndefined();
});
