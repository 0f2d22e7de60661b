import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createFactCollector, type FactCollector } from '../../../src/agent/facts/collector.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host, HostHealth, RunResult } from '../../../src/agent/host/port.ts';
import { JOBS_CONFIG_FILE } from '../../../src/agent/layout.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { NOW, settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const NODEFS = '/var/lib/kubelet';
const OWN = '/var/log';

let clock: VirtualClock;
let log: MemoryLog;
let memory: MemoryHost;
let health: () => Promise<HostHealth>;
let crictl: () => Promise<RunResult>;
let commands: (readonly string[])[];

beforeEach(async () => {
  clock = virtualClock();
  log = memoryLog();
  memory = createMemoryHost({ clock, artifacts: new Map(), capacityBytes: 1000 });
  health = async () => ({ blockedTasks: [] });
  crictl = async () => ({ exitCode: 0, timedOut: false, truncated: false, output: '' });
  commands = [];
  await fill(100);
});

describe('facts of the host', () => {
  it('are not known before the first collection', () => {
    expect(createFactCollector({ host: memory, clock, log }).facts()).toEqual({});
  });

  it('are the file systems that exist and the probes that can be run', async () => {
    const collector = await start();
    expect(collector.facts()).toEqual({
      disk: [{ filesystem: 'nodefs', usedPercent: 10 }],
      probes: [
        { name: 'hung-tasks', result: 'Pass', at: NOW.toISOString() },
        { name: 'runtime', result: 'Pass', at: NOW.toISOString() },
      ],
    });
    expect(commands).toEqual([['crictl', 'version']]);
  });

  it('are collected every 30 seconds, and are equal while nothing changes', async () => {
    const collector = await start();
    const before = collector.facts();
    await clock.advance(29_000);
    expect(commands).toHaveLength(1);
    await clock.advance(1000);
    expect(commands).toHaveLength(2);
    expect(collector.facts()).toEqual(before);
    await fill(101);
    await clock.advance(30_000);
    const risingSince = new Date(NOW.getTime() + 60_000).toISOString();
    expect(collector.facts().disk).toEqual([{ filesystem: 'nodefs', usedPercent: 11, risingSince }]);
  });

  it('include file systems that the configuration of the host names', async () => {
    await configure({ filesystems: { [OWN]: [OWN] }, crictl: '/opt/crictl' });
    await memory.files.makeDirectory(OWN);
    const { disk } = (await start()).facts();
    expect(disk?.map(({ filesystem }) => filesystem)).toEqual(['nodefs', OWN]);
    expect(commands).toEqual([['/opt/crictl', 'version']]);
  });

  it('are without a part that fails, which is logged once for each outage', async () => {
    let fails = true;
    const working = crictl;
    crictl = async () => (fails ? Promise.reject(new Error('no fork')) : working());
    health = () => Promise.reject(new Error('no /proc'));
    const collector = await start();
    await clock.advance(30_000);
    expect(collector.facts()).toEqual({ disk: [{ filesystem: 'nodefs', usedPercent: 10 }], probes: [] });
    expect(logged()).toEqual(['health', 'runtime']);
    fails = false;
    await clock.advance(30_000);
    fails = true;
    await clock.advance(30_000);
    expect(logged()).toEqual(['health', 'runtime', 'runtime']);
  });

  it('include the errors of GPUs, and are without them while the journal cannot be read', async () => {
    await memory.files.makeDirectory('/proc/driver/nvidia/gpus/0000:91:00.0');
    let isBroken = false;
    const output = ' 0 7a1b Mon 2029-12-31 09:01:00 UTC—Tue 2030-01-01 11:00:00 UTC';
    crictl = async () => ({ exitCode: isBroken ? 2 : 0, timedOut: false, truncated: false, output });
    const collector = await start();
    expect(collector.facts()).toMatchObject({ xid: [], xidSince: '2029-12-31T09:01:00.000Z' });
    isBroken = true;
    await clock.advance(30_000);
    expect(collector.facts()).not.toHaveProperty('xidSince');
    expect(logged()).toContain('xid');
  });

  it('R6 keep the digest of what the detector runs while a collection does not end', async () => {
    await memory.files.write('/etc/kubenode/detector/a.json', new TextEncoder().encode('{}'), {
      mode: '0644',
      owner: 'root:root',
    });
    const collector = await start();
    const { detectorConfig } = collector.facts();
    expect(detectorConfig).toMatch(/^sha256:/);
    const { promise, resolve } = Promise.withResolvers<HostHealth>();
    onTestFinished(() => resolve({}));
    health = () => promise;
    await clock.advance(90_001);
    expect(collector.facts()).toEqual({ detectorConfig });
  });

  it('do without disks and runtime while the configuration of the host is damaged', async () => {
    await configure({ crictl: 7 });
    const { disk, probes } = (await start()).facts();
    expect(disk).toEqual([]);
    expect(probes?.map(({ name }) => name)).toEqual(['hung-tasks']);
    expect(logged()).toEqual(['configuration']);
  });

  it('are not known anymore when a collection does not end', async () => {
    const collector = await start();
    const { promise, resolve } = Promise.withResolvers<HostHealth>();
    onTestFinished(() => resolve({}));
    health = () => promise;
    await clock.advance(90_000);
    expect(collector.facts().disk).toHaveLength(1);
    await clock.advance(1);
    expect(collector.facts()).toEqual({});
  });

  it('include no runtime on a host that runs no programs', async () => {
    const { probes } = (await start({ capabilities: memory.capabilities })).facts();
    expect(probes?.map(({ name }) => name)).toEqual(['hung-tasks']);
    expect(commands).toEqual([]);
  });
});

async function start(fields: Partial<Host> = {}): Promise<FactCollector> {
  const host: Host = {
    ...memory,
    capabilities: { ...memory.capabilities, programs: true },
    node: { ...memory.node, health: () => health() },
    processes: {
      ...memory.processes,
      run: async (argv) => {
        commands.push(argv);
        return await crictl();
      },
    },
    ...fields,
  };
  const collector = createFactCollector({ host, clock, log });
  const abort = new AbortController();
  void collector.run(abort.signal);
  onTestFinished(() => abort.abort());
  while (clock.sleepers === 0) await settle();
  return collector;
}

/** All that is on the disk is this file. */
async function fill(bytes: number): Promise<void> {
  await memory.files.write(`${NODEFS}/file`, new Uint8Array(bytes), { mode: '0600', owner: 'root:root' });
}

async function configure(config: object): Promise<void> {
  const content = new TextEncoder().encode(JSON.stringify(config));
  await memory.files.write(JOBS_CONFIG_FILE, content, { mode: '0644', owner: 'root:root' });
}

function logged(): readonly unknown[] {
  return log.lines.map(({ fields }) => fields['what']);
}
