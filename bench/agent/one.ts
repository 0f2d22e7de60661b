/** One agent as it is delivered: the bundle, with the flags of its unit, on a sandbox with twenty components. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildBundle } from '../../scripts/bundle.ts';
import { sandboxFolders } from '../../src/agent/host/sandbox/folders.ts';
import { createSandboxHost } from '../../src/agent/host/sandbox/host.ts';
import { sendSignal, unitPids } from '../../src/agent/host/sandbox/unit-process.ts';
import { rememberCluster } from '../../src/agent/identity/remember-cluster.ts';
import { createIdentityStore, identityFiles } from '../../src/agent/identity/store.ts';
import { NODE_FLAGS } from '../../src/agent/install/own-unit.ts';
import { AGENT_PKI } from '../../src/agent/layout.ts';
import type { MachineComponentSpec } from '../../src/api/generated/types.ts';
import { agentUser } from '../../src/api/names.ts';
import { createPrincipal } from '../../src/local/pki/principal.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { ApiServer } from '../../test/support/control-plane-server.ts';
import { readUsage } from '../sync/usage.ts';
import {
  configOf,
  declareMachine,
  plainComponent,
  publishProgram,
  reportsOf,
  storeComponents,
} from './components.ts';

const MACHINE = 'bench-1';
const COMPONENTS = 20;
const SETTLE_MS = 15_000;
const IDLE_MS = 60_000;
const WITHIN_MS = 120_000;
const POLL_MS = 20;
const RUNS = 'exec sleep 1000001';

export interface OneAgent {
  readonly residentMiB: number;
  readonly bareNodeMiB: number;
  readonly idleCpuShare: number;
  readonly writeBackMs: number;
  readonly startMs: number;
  readonly rollbackMs: number;
}

export async function measureOne(server: ApiServer, folder: string): Promise<OneAgent> {
  const directory = join(folder, 'host');
  const { file } = await buildBundle('agent', folder);
  await pretendToHaveJoined(server, directory);
  const plain = Array.from({ length: COMPONENTS - 1 }, (_, index) => plainComponent(index));
  const [first, second, broken] = [
    await publishProgram(folder, '1.0', RUNS),
    await publishProgram(folder, '1.1', RUNS),
    await publishProgram(folder, '1.2', 'exit 3'),
  ];
  await declare(server, [...plain, first.spec]);
  const args = [
    ...NODE_FLAGS,
    file,
    'run',
    '--machine',
    MACHINE,
    '--host',
    'sandbox',
    '--directory',
    directory,
  ];
  const log = join(folder, 'agent.log');
  const child = spawn('/bin/sh', ['-c', 'exec "$@" > "$0" 2>&1', log, execPath, ...args], {
    stdio: 'ignore',
  });
  try {
    await committed(server, COMPONENTS);
    const idle = await measureIdle(child);
    const writeBackMs = await measureWriteBack(directory);
    const startMs = await measureStart(directory);
    await declare(server, [...plain, second.spec]);
    await reportedState(server, 'proxy-1.1', 'Committed');
    // The network is cut: what the agent returns to is in its cache.
    await second.withdraw();
    await declare(server, [...plain, broken.spec]);
    const rollbackMs = await elapsed(() => reportedState(server, 'proxy-1.1', 'RolledBack'));
    return { ...idle, writeBackMs, startMs, rollbackMs };
  } catch (error) {
    const tail = (await readFile(log, 'utf8')).slice(-2000);
    throw new Error(`the agent was not measured; the end of its log: ${tail}`, { cause: error });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    await endUnits(directory);
  }
}

async function declare(server: ApiServer, specs: readonly MachineComponentSpec[]): Promise<void> {
  await declareMachine(server.client, MACHINE, await storeComponents(server.client, specs));
}

/** As after joining with a token: certificate and cluster are on the disk. */
async function pretendToHaveJoined(server: ApiServer, directory: string): Promise<void> {
  const host = createSandboxHost({ directory, clock: createSystemClock() });
  await host.open();
  const { certPem, keyPem } = server.certificateFor(createPrincipal(agentUser(MACHINE)));
  await createIdentityStore(host.files, identityFiles(AGENT_PKI)).store(certPem, createPrivateKey(keyPem));
  await rememberCluster(host, { server: server.url, ca: server.caPem });
  await host.close();
}

async function measureIdle(
  child: ChildProcess,
): Promise<Pick<OneAgent, 'residentMiB' | 'bareNodeMiB' | 'idleCpuShare'>> {
  await sleep(SETTLE_MS);
  const before = await readUsage(child.pid ?? 0);
  await sleep(IDLE_MS);
  const after = await readUsage(child.pid ?? 0);
  const idleCpuShare = (after.cpuSeconds - before.cpuSeconds) / (IDLE_MS / 1000);
  return { residentMiB: after.residentMiB, bareNodeMiB: await bareNode(), idleCpuShare };
}

/** A process of Node.js that only sleeps, with the same flags. */
async function bareNode(): Promise<number> {
  const child = spawn(execPath, [...NODE_FLAGS, '-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await sleep(3000);
  const { residentMiB } = await readUsage(child.pid ?? 0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return residentMiB;
}

async function measureWriteBack(directory: string): Promise<number> {
  const file = join(directory, configOf('part-0'));
  const content = await readFile(file, 'utf8');
  await writeFile(file, 'edited by hand\n');
  return await elapsed(() => until(async () => (await readFile(file, 'utf8')) === content));
}

/** The processes of a unit end, and nothing but the agent starts them again. */
async function measureStart(directory: string): Promise<number> {
  const folders = sandboxFolders(directory);
  const before = await unitPids(folders, 'part-1');
  sendSignal(before, 'SIGKILL');
  const isStarted = async (): Promise<boolean> => {
    const now = await unitPids(folders, 'part-1');
    return now.length > 0 && now.every((pid) => !before.includes(pid));
  };
  return await elapsed(() => until(isStarted));
}

async function committed(server: ApiServer, count: number): Promise<void> {
  await until(async () => {
    const reports = await reportsOf(server.client, MACHINE);
    return reports.filter(({ state, ready }) => state === 'Committed' && ready).length === count;
  });
}

async function reportedState(server: ApiServer, ref: string, state: string): Promise<void> {
  await until(async () => {
    const reports = await reportsOf(server.client, MACHINE);
    const proxy = reports.find(({ name }) => name === 'proxy');
    return proxy?.currentRef === ref && proxy.state === state && proxy.running === true;
  });
}

async function endUnits(directory: string): Promise<void> {
  const folders = sandboxFolders(directory);
  await until(async () => {
    const pids = await unitPids(folders);
    sendSignal(pids, 'SIGKILL');
    return pids.length === 0;
  });
}

async function elapsed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`not reached within ${WITHIN_MS} ms`);
    await sleep(POLL_MS);
  }
}
