/** `kubenode start --demo` as a person runs it, with the programs of this checkout. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLUSTERS } from '../../src/api/generated/resources.ts';
import type { Cluster } from '../../src/api/generated/types.ts';
import { endMachines, machinesFolder } from '../../src/cli/local/machines-folder.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { stopLocalFleet } from '../../src/local/fleet.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { KUBENODE_FLAGS } from '../bench.ts';

const BUNDLE_SCRIPT = new URL('../../scripts/bundle.ts', import.meta.url).pathname;
const MAIN = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const WITHIN_MS = 900_000;
const POLL_MS = 1000;
const clock = createSystemClock();

export interface Demo {
  connectTo(context: string): Promise<Client>;
  /** The file that stands for the log of the kernel of a machine. */
  kernelLog(cluster: string, uid: string): string;
  close(): Promise<void>;
}

/** Resolves when the first commit is proven in the last stage: all machines are Ready then. */
export async function openDemo(lastStage: string): Promise<Demo> {
  // Those of an earlier build would be measured otherwise.
  for (const name of ['agent', 'kubelet']) execFileSync(execPath, [BUNDLE_SCRIPT, name]);
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-heal-'));
  const dir = join(folder, 'fleet');
  const args = [MAIN, 'start', '--demo', join(folder, 'repository'), '--dir', dir];
  const command = spawn(execPath, [...KUBENODE_FLAGS, ...args], { stdio: 'ignore' });
  const clients: Client[] = [];
  const kubeconfig = join(dir, 'kubeconfig');
  const demo: Demo = {
    async connectTo(context) {
      const client = await connect({ clock, kubeconfig, context });
      clients.push(client);
      return client;
    },
    kernelLog: (cluster, uid) => join(machinesFolder(dir, cluster), uid, 'host/var/log/kernel.log'),
    async close() {
      for (const client of clients) await client.close();
      if (command.exitCode === null) {
        command.kill('SIGKILL');
        await once(command, 'exit');
      }
      await endMachines(dir, clock);
      await stopLocalFleet({ dir, clock, onStep: () => undefined, wipe: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(async () => existsSync(kubeconfig));
    const hub = await demo.connectTo('hub');
    await until(async () => (await stateOf(hub, lastStage)) === 'Proven');
    return demo;
  } catch (error) {
    await demo.close();
    throw error;
  }
}

/** Undefined while the hub comes up. */
async function stateOf(hub: Client, cluster: string): Promise<string | undefined> {
  const found = await hub.get<Cluster>(CLUSTERS, { name: cluster }).catch(() => undefined);
  return found?.status?.sync?.state;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not reached within ${WITHIN_MS} ms`);
    await sleep(POLL_MS);
  }
}
