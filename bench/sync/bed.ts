/** A real hub, a real cluster with an audit log, a repository written in cdk8s, and `kubenode sync` as users run it. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { install } from '../../src/api/install/install.ts';
import { PRINCIPAL_SYNC } from '../../src/api/names.ts';
import { SECRETS } from '../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../src/local/pki/principal.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { closeRun, openRun, type Run } from '../../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../../test/support/control-plane-server.ts';
import { createTestRepository } from '../../test/support/git-server/repository.ts';
import { type Audit, auditOf } from './audit.ts';
import { CLUSTER, type FleetContent, type FleetSource, fleetFiles } from './fleet.ts';
import { type ProcessUsage, readUsage, resetPeak } from './usage.ts';

const BIN = new URL('../../bin/kubenode.js', import.meta.url).pathname;

export interface Bed {
  readonly server: ApiServer;
  readonly audit: Audit;
  /** Commits and pushes the fleet. Returns when the push is done. */
  push(content: FleetContent): void;
  startSync(): void;
  /** Of the sync process. */
  usage(): Promise<ProcessUsage>;
  resetPeak(): Promise<void>;
  close(): Promise<void>;
}

export interface BedOptions {
  /** Flags of `kubenode sync`. */
  readonly flags?: readonly string[];
  /** Returns how sync learns of a push to the bare repository. Default: by polls, each second. */
  readonly source?: (bare: string, hub: ApiServer) => Promise<FleetSource>;
}

export async function openBed({ flags = [], source = polledSource }: BedOptions = {}): Promise<Bed> {
  // Fills the cache of compiled code (bin/kubenode.js): the package needs no types stripped, and a checkout only the first time.
  execFileSync(execPath, [BIN, '--version']);
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-sync-'));
  const run = await openRun();
  const { user } = createPrincipal(PRINCIPAL_SYNC);
  const audit = await auditOf(user, folder);
  const [hub, server] = await Promise.all([installed(run), installed(run, audit.flags)]);
  await hub.client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${CLUSTER}-kubeconfig`,
      namespace: 'kubenode-system',
      annotations: { 'kubenode.dev/secret-use': 'kubeconfig' },
    },
    data: { kubeconfig: (await readFile(await asSync(server))).toString('base64') },
  });
  const hubKubeconfig = await asSync(hub);
  const git = createTestRepository(folder);
  const fleetSource = await source(git.bare, hub);
  let child: ChildProcess | undefined;
  /** The last parts of its log. */
  const stderr: string[] = [];

  return {
    server,
    audit,
    push: (content) => void git.commit('bench', fleetFiles(fleetSource, content)),
    startSync() {
      const args = ['sync', '--kubeconfig', hubKubeconfig, '--cache', join(folder, 'cache'), ...flags];
      child = spawn(execPath, [BIN, ...args, '--from', fleetSource.repository], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr?.on('data', (text: Buffer) => {
        if (stderr.push(text.toString()) > 20) stderr.shift();
      });
      child.once('exit', (code) => {
        const log = stderr.join('').slice(-4000);
        if (code) process.stderr.write(`kubenode sync exited with ${code}:\n${log}\n`);
      });
    },
    usage: () => readUsage(pidOf(child)),
    resetPeak: () => resetPeak(pidOf(child)),
    async close() {
      await ended(child);
      await Promise.all([hub.stop(), server.stop()]);
      await audit.close();
      await closeRun(run);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function installed(run: Run, flags: readonly string[] = []): Promise<ApiServer> {
  const server = await startServer(run, { flags });
  await install(server.client, { clock: createSystemClock() });
  return server;
}

async function polledSource(bare: string): Promise<FleetSource> {
  return { repository: `file://${bare}`, pollSeconds: 1 };
}

async function asSync(server: ApiServer): Promise<string> {
  return server.kubeconfigFor(createPrincipal(PRINCIPAL_SYNC));
}

function pidOf(child: ChildProcess | undefined): number {
  if (!runs(child) || child.pid === undefined) throw new Error('kubenode sync is not running');
  return child.pid;
}

function runs(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!runs(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
