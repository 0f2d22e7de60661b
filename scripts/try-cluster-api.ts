/** Runs Cluster API and kubenode beside it on this computer, until Ctrl-C: what docs/guides/cluster-api.md shows, with agents in memory. */
import { once } from 'node:events';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { installation } from '../src/api/install/install.ts';
import { stateFolder } from '../src/local/folders.ts';
import { messageOf } from '../src/os/errors.ts';
import { installAll, withClients } from '../test/cluster/api/installed-server.ts';
import { startUpdateBed, type UpdateBed } from '../test/cluster/controllers/clusterapi-bed.ts';
import { programSpec } from '../test/cluster/controllers/rollout-fleet.ts';
import { coreProgram, noCoreReason } from '../test/support/cluster-api/core.ts';
import { CLUSTER_API_VERSION, noClusterApiReason } from '../test/support/cluster-api/crds.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { removeFoldersOfFile } from '../test/support/temp.ts';

const [FROM, TO] = ['1.36.1', '1.36.2'];
const MACHINES = 3;
const DEPLOYMENT = 'workers';
const JOIN_MS = 1000;

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

const reason = noClusterApiReason ?? (await noCoreReason());
if (reason === undefined) await run();
else fail(reason);

async function run(): Promise<void> {
  report('etcd and kube-apiserver');
  const programs = await openRun();
  try {
    const server = await startServer(programs);
    await installAll(server, installation());
    report(`the core of Cluster API ${CLUSTER_API_VERSION}, which Go builds the first time: 2 minutes`);
    await coreProgram();
    report('Cluster API, kubenode controllers with the update extension');
    const specs = Object.fromEntries([FROM, TO].map((version) => [version, programSpec('kubelet', version)]));
    const bed = await startUpdateBed({
      components: [{ name: 'kubelet', specs }],
      version: FROM,
      installed: withClients(server),
      replicas: MACHINES,
    });
    await serve(bed, server.kubeconfig);
  } catch (error) {
    if (!stopped.signal.aborted) fail(messageOf(error));
  } finally {
    await closeRun(programs);
    removeFoldersOfFile();
  }
}

/** Agents of machines that Cluster API creates later join, too. */
async function serve(bed: UpdateBed, kubeconfig: string): Promise<void> {
  const folder = join(stateFolder(process.env), '..', 'cluster-api');
  const file = join(folder, 'kubeconfig');
  try {
    report(`MachineDeployment fleet/${DEPLOYMENT} with ${MACHINES} machines, and their agents in memory`);
    await bed.createDeployment(DEPLOYMENT);
    await bed.workload.createTemplate('larger', { size: 'large' });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await copyFile(kubeconfig, file);
    process.stdout.write(`\nIt runs until Ctrl-C. In another terminal:\n\n  export KUBECONFIG=${file}\n\n`);
    while (!stopped.signal.aborted) {
      await bed.join(DEPLOYMENT);
      await Promise.race([pause(JOIN_MS), once(stopped.signal, 'abort')]);
    }
  } finally {
    report('stops');
    await rm(folder, { recursive: true, force: true });
    await bed.stop();
  }
}

function report(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

function fail(message: string): void {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = 1;
}
