/** A real hub, a real cluster with an audit log, a repository written in cdk8s, and `kubenode sync` as users run it. */

import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { compileProgram, ended, runs, startSyncProcess } from './process.ts';
import { type ProcessUsage, readUsage, resetPeak } from './usage.ts';

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
  compileProgram();
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

  return {
    server,
    audit,
    push: (content) => void git.commit('bench', fleetFiles(fleetSource, content)),
    startSync() {
      const args = ['--kubeconfig', hubKubeconfig, '--cache', join(folder, 'cache'), ...flags];
      child = startSyncProcess([...args, '--from', fleetSource.repository]);
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
