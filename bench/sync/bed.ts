/** A real hub, a real cluster with an audit log, a repository written in cdk8s, and `kubenode sync` as users run it. */

import { type ChildProcess, spawn } from 'node:child_process';
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

const BIN = new URL('../../bin/kubenode.js', import.meta.url).pathname;
const CLUSTER = 'bench';
export const UNIT_NAMESPACE = 'default';

export interface Bed {
  readonly server: ApiServer;
  readonly audit: Audit;
  /** Commits and pushes a fleet with this number of ConfigMaps; `changes` are versions by index. Returns when the push is done. */
  push(objects: number, changes?: ReadonlyMap<number, string>): void;
  startSync(): void;
  /** Memory of the sync process in MiB, from the kernel. */
  memory(): Promise<{ readonly resident: number; readonly peak: number }>;
  close(): Promise<void>;
}

export async function openBed(): Promise<Bed> {
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
  let child: ChildProcess | undefined;
  let stderr = '';

  return {
    server,
    audit,
    push(objects, changes = new Map()) {
      git.commit('bench', { 'fleet/main.ts': fleetProgram(git.bare, objects, changes), 'cdk8s.yaml': CDK8S });
    },
    startSync() {
      const args = ['sync', '--kubeconfig', hubKubeconfig, '--cache', join(folder, 'cache')];
      child = spawn(execPath, [BIN, ...args, '--from', git.bare], { stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr?.on('data', (text: Buffer) => {
        stderr = (stderr + text.toString()).slice(-4000);
      });
      child.once('exit', (code) => {
        if (code) process.stderr.write(`kubenode sync exited with ${code}:\n${stderr}\n`);
      });
    },
    memory: async () => memoryOf(child),
    async close() {
      await ended(child);
      await Promise.all([hub.stop(), server.stop()]);
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

async function asSync(server: ApiServer): Promise<string> {
  return server.kubeconfigFor(createPrincipal(PRINCIPAL_SYNC));
}

async function memoryOf(child: ChildProcess | undefined): Promise<{ resident: number; peak: number }> {
  if (!runs(child)) throw new Error('kubenode sync is not running');
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { resident: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
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

const CDK8S = 'language: typescript\napp: node fleet/main.ts\n';

function fleetProgram(repository: string, objects: number, changes: ReadonlyMap<number, string>): string {
  return `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
fleet.pipeline('fleet', {
  source: { repository: 'file://${repository}', ref: 'refs/heads/main', pollSeconds: 1 },
  stages: [{ name: 'all', clusterSelector: { all: true }, soakSeconds: 0 }],
});
const changes: Record<number, string> = ${JSON.stringify(Object.fromEntries(changes))};
const cluster = fleet.cluster('${CLUSTER}', { environment: 'test', connection: { credentialsRef: { name: '${CLUSTER}-kubeconfig' } } });
const unit = cluster.unit('web');
for (let index = 0; index < ${objects}; index += 1) {
  new ApiObject(unit, 'bench-' + index, {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bench-' + index, namespace: '${UNIT_NAMESPACE}', labels: { app: 'bench' } },
    data: { value: changes[index] ?? '0', text: '${'x'.repeat(500)}' },
  } as never);
}
fleet.synth();
`;
}
