import { describe, expect, it, onTestFinished } from 'vitest';
import { loadDetectorConfig } from '../../../src/agent/detector/config/load.ts';
import { createMonitor } from '../../../src/agent/detector/create-monitor.ts';
import type { Host } from '../../../src/agent/host/port.ts';
import { createSandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  configFile,
  fileMonitor,
  journalMonitor,
  kernelMonitor,
  pluginMonitor,
} from '../../support/agent/detector-config.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';

const clock = createSystemClock();

describe('create monitor', () => {
  it.each([
    ['the kernel log', kernelMonitor, '/dev/kmsg'],
    ['a file', fileMonitor, '/var/log/kern.log'],
    ['a journal', journalMonitor, '/var/log/journal'],
    ['a journal without a directory', { ...journalMonitor, logPath: '' }, '/var/log/journal'],
  ])('reads %s of the host and not of this machine, and reports when it cannot', async (_, fields, path) => {
    const host = createSandboxHost({ directory: tempFolder('host'), clock });
    expect(await unreadable(host, fields)).toContain(`'${host.directory}${path}'`);
  });

  it('reads a file that is named by its path in the sandbox, as its component names it there', async () => {
    const host = createSandboxHost({ directory: tempFolder('host'), clock });
    const path = `${host.directory}/var/log/kern.log`;
    expect(await unreadable(host, { ...fileMonitor, logPath: path })).toContain(`'${path}'`);
  });

  it.each([
    ['sandbox', { user: 'daemon' }, ['rights of plug-ins not applied']],
    ['systemd', { user: 'daemon' }, []],
    ['sandbox', undefined, []],
  ] as const)('warns where a host of type %s does not apply the rights %j', (type, rights, expected) => {
    const sandbox = createSandboxHost({ directory: tempFolder('host'), clock });
    const log = memoryLog();
    const file = configFile('ntp.json', { ...pluginMonitor, ...(rights && { rights }) });
    const [config] = loadDetectorConfig([file]).monitors;
    if (!config) throw new Error('refused');
    const host = { ...sandbox, type };
    createMonitor(config, { host, bootedMs: () => 0, clock, log, onChange: nothing }, undefined);
    expect(log.lines.map(({ message }) => message)).toEqual(expected);
  });
});

/** What is reported of the log of this file. */
async function unreadable(host: Host, fields: Readonly<Record<string, unknown>>): Promise<string> {
  const [config] = loadDetectorConfig([configFile('a.json', fields)]).monitors;
  if (!config) throw new Error('refused');
  const context = { host, bootedMs: () => 0, clock, log: memoryLog(), onChange: nothing };
  const monitor = createMonitor(config, context, undefined);
  const abort = new AbortController();
  const running = monitor.run(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  const found = await eventually(
    async () => monitor.conditions().find(({ status }) => status === 'Unknown'),
    'the log was read',
    10_000,
  );
  expect(found).toMatchObject({ reason: 'LogUnreadable' });
  return found.message;
}

function nothing(): void {
  // No reporter waits for a change.
}
