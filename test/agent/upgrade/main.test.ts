/** The watchdog with real processes on a sandbox: small scripts instead of agents. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandboxHost, type SandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { PROOF_FILE } from '../../../src/agent/layout.ts';
import { watchUpgrade } from '../../../src/agent/upgrade/main.ts';
import { createSandboxService } from '../../../src/agent/upgrade/service/sandbox.ts';
import { beginUpgrade, readSlots } from '../../../src/agent/upgrade/slot-store.ts';
import type { AgentUpgrade } from '../../../src/agent/upgrade/slots.ts';
import { machineUptimeMs } from '../../../src/agent/upgrade/uptime.ts';
import { stopProcess } from '../../../src/os/process/child.ts';
import { readProcessIdentity } from '../../../src/os/process/identity.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { processesWith } from '../../support/processes.ts';
import { tempFolder } from '../../support/temp.ts';

const clock = createSystemClock();
const MIB = 1024 ** 2;
const NEVER = new AbortController().signal;
const RUNS = 'setInterval(() => {}, 1000);';

let directory: string;
let host: SandboxHost;
let upgrade: AgentUpgrade;

beforeEach(async () => {
  directory = tempFolder('upgrade');
  host = createSandboxHost({ directory, clock });
  mkdirSync(join(directory, 'var/lib/kubenode/agent'), { recursive: true });
  const from = program('old', `process.title; ${RUNS}`);
  const launch = { runtime: [process.execPath], args: ['run', '--directory', directory] };
  upgrade = agentUpgrade({
    from,
    to: join(directory, 'new'),
    launch,
    limits: { healthySeconds: 60, holdSeconds: 0, maxResidentBytes: 200 * MIB },
    bootId: await host.node.bootId(),
  });
  const service = createSandboxService(directory, upgrade, clock);
  await service.start(from);
  const replaces = await eventually(
    async () => await readProcessIdentity(pids()[0] ?? 0),
    'the first process did not start',
  );
  upgrade = { ...upgrade, replaces };
});

afterEach(async () => {
  for (const pid of pids()) {
    const identity = await readProcessIdentity(pid);
    if (identity) await stopProcess(identity, clock, 0);
  }
});

function program(name: string, source: string): string {
  const file = join(directory, name);
  writeFileSync(file, `${source}\n`);
  return file;
}

function pids(): readonly number[] {
  return processesWith(`--directory\0${directory}`);
}

function programs(): readonly string[] {
  return pids().map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] ?? '');
}

/** Writes what a healthy agent writes. */
function healthy(): string {
  const file = JSON.stringify(join(directory, PROOF_FILE));
  const proof = `{ key: 'k', pid: process.pid, atMs: ${machineUptimeMs()}, missing: [] }`;
  return `process.getBuiltinModule('node:fs').writeFileSync(${file}, JSON.stringify(${proof})); ${RUNS}`;
}

/** A process that never proves itself needs a short limit; a busy machine starts the others later than that. */
async function watch(
  source: string,
  healthySeconds = upgrade.limits.healthySeconds,
): Promise<string | undefined> {
  program('new', source);
  await beginUpgrade(host.files, { ...upgrade, limits: { ...upgrade.limits, healthySeconds } });
  await watchUpgrade({ directory, clock, log: memoryLog() }, NEVER);
  const { last } = await readSlots(host.files);
  return last?.failure?.code ?? last?.result;
}

describe('the watchdog on a sandbox', () => {
  it('ends at once when no upgrade is under way', async () => {
    await watchUpgrade({ directory, clock, log: memoryLog() }, NEVER);
    expect(programs()).toEqual([upgrade.from]);
  });

  it('AGT-43 keeps a process that proves itself, and ends the one before', async () => {
    expect(await watch(healthy())).toBe('Committed');
    expect(programs()).toEqual([upgrade.to]);
  });

  it.each([
    ['ends', 'setTimeout(() => process.exit(3), 500);', 'AgentCrashed'],
    ['takes too much memory', `globalThis.all = Buffer.alloc(${300 * MIB}, 1); ${RUNS}`, 'AgentMemory'],
    ['is not JavaScript', 'this is not a program', 'AgentCrashed'],
  ])('AGT-43 returns the process before one that %s', async (_, source, code) => {
    expect(await watch(source)).toBe(code);
    expect(programs()).toEqual([upgrade.from]);
  });

  it.each([
    ['hangs', RUNS],
    ['ignores a request to end', `process.on('SIGTERM', () => {}); ${RUNS}`],
  ])('AGT-43 returns the process before one that %s', async (_, source) => {
    expect(await watch(source, 2)).toBe('AgentUnhealthy');
    expect(programs()).toEqual([upgrade.from]);
  });

  it('tells what a process printed before it ended', async () => {
    await watch("throw new Error('the disk is on fire');");
    const { last } = await readSlots(host.files);
    expect(last?.failure?.message).toContain('the disk is on fire');
  });

  it('leaves a process with other arguments alone', async () => {
    const other = createSandboxService(
      directory,
      { ...upgrade, launch: { ...upgrade.launch, args: ['status', '--directory', directory] } },
      clock,
    );
    await other.start(upgrade.from);
    await eventually(async () => pids().length === 2 || undefined, 'the other process did not start');
    await watch('process.exit(3);');
    expect(programs()).toEqual([upgrade.from, upgrade.from]);
    expect(pids().length).toBe(2);
  });
});
