/** Imports through `kubenode controllers` on a real API server: hosts behind real SSH servers, with simulated agents. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine } from '../../src/api/generated/types.ts';
import { install, installation } from '../../src/api/install/install.ts';
import { PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../src/api/names.ts';
import { createView } from '../../src/kube/cache/view.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';
import { ACCOUNTS } from '../../test/cluster/defender/objects.ts';
import { startSilentServer, type UserKey } from '../../test/providers/ssh/sshd.ts';
import { closeRun, openRun } from '../../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../../test/support/control-plane-server.ts';
import { startControllerManager } from '../../test/support/controller-manager.ts';
import {
  conditionText,
  createImportedMachine,
  createSshSecret,
  type HostToImport,
} from '../../test/support/imported-fleet.ts';
import { memoryLog } from '../../test/support/memory-log.ts';
import { type SimulatedHost, startSimulatedHost } from '../../test/support/simulated-host.ts';
import { KUBENODE_FLAGS, percentile } from '../bench.ts';
import { readUsage } from '../sync/usage.ts';

const SINGLE_HOSTS = 5;
/** One host in so many hangs, in the last part. */
const HANGING_IN = 20;
const WITHIN_MS = 900_000;
const clock = createSystemClock();

export interface ControllerImports {
  /** From the Machine to AgentReady, for one host at a time. */
  readonly singleP95Ms: number;
  readonly fleetMs: number;
  readonly fleetP95Ms: number;
  /** Of as many hosts, some of which hang: until the others are done. */
  readonly besideHangingMs: number;
  readonly besideHangingP95Ms: number;
  /** Of the process of the controllers, at its peak while all are imported at once. */
  readonly controllersPeakMiB: number;
  /** The same at the end, with the Machines of both parts. */
  readonly controllersPeakTwiceMiB: number;
}

export interface ControllerImportOptions {
  readonly key: UserKey;
  /** The folder of the programs. */
  readonly programs: string;
  readonly count: number;
}

export async function measureControllerImports(options: ControllerImportOptions): Promise<ControllerImports> {
  const shared = await openRun();
  const server = await startServer(shared);
  const hosts: SimulatedHost[] = [];
  const stopSigner = await startControllerManager(server, ['csrsigning']);
  let controllers: ChildProcess | undefined;
  try {
    const results = await install(server.client, { clock, objects: installation() });
    const errors = results.flatMap(({ error }) => error ?? []);
    if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
    await createSshSecret(server.client, options.key.privateKey);
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await server.kubeconfigFor({ user, groups: ACCOUNTS });
    controllers = startControllers(kubeconfig, options.programs);
    return await measure(options, { server, hosts, controllers });
  } finally {
    await ended(controllers);
    await Promise.all(hosts.map((host) => host.close()));
    await stopSigner();
    await server.stop();
    await closeRun(shared);
  }
}

interface Bed {
  readonly server: ApiServer;
  readonly hosts: SimulatedHost[];
  readonly controllers: ChildProcess;
}

async function measure({ key, count }: ControllerImportOptions, bed: Bed): Promise<ControllerImports> {
  const start = (part: string, network: number) => async (index: number) => {
    const address = `127.${network}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    const host = await startSimulatedHost({ address, authorized: key.publicKey });
    bed.hosts.push(host);
    return { name: `${part}-${index}`, address, port: host.port, hostKeys: host.hostKeys };
  };
  const singles: number[] = [];
  for (const host of await runConcurrently(indexes(SINGLE_HOSTS), start('single', 11))) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    singles.push((await importAll(bed, [host])).allMs);
  }
  const fleet = await importAll(bed, await runConcurrently(indexes(count), start('fleet', 12)));
  const { peakMiB: controllersPeakMiB } = await readUsage(bed.controllers.pid ?? 0);
  const hanging = Math.floor(count / HANGING_IN);
  const others = await runConcurrently(indexes(count - hanging), start('other', 13));
  const silent = await startSilentServer();
  try {
    const [first] = others;
    if (!first) throw new Error('no host was started');
    await runConcurrently(indexes(hanging), (index) =>
      createImportedMachine(bed.server.client, {
        ...first,
        name: `hanging-${index}`,
        address: `127.0.0.${index + 1}`,
        port: silent.port,
      }),
    );
    const beside = await importAll(bed, others);
    const { peakMiB } = await readUsage(bed.controllers.pid ?? 0);
    return {
      singleP95Ms: percentile(singles, 0.95),
      fleetMs: fleet.allMs,
      fleetP95Ms: fleet.p95Ms,
      besideHangingMs: beside.allMs,
      besideHangingP95Ms: beside.p95Ms,
      controllersPeakMiB,
      controllersPeakTwiceMiB: peakMiB,
    };
  } finally {
    await silent.close();
  }
}

/** Creates the Machines, and waits until the agents of all report. */
async function importAll(
  { server, controllers }: Bed,
  hosts: readonly HostToImport[],
): Promise<{ readonly allMs: number; readonly p95Ms: number }> {
  const { client } = server;
  const created = new Map<string, number>();
  const times = new Map<string, number>();
  const stop = new AbortController();
  const view = createView<Machine>({
    client,
    resource: MACHINES,
    clock,
    random: systemRandom,
    log: memoryLog(),
  });
  view.store.subscribe({ added: read, updated: read });
  const watching = view.reflector.run(stop.signal);
  await view.reflector.synced(stop.signal);
  const began = performance.now();
  try {
    await runConcurrently(hosts, async (host) => {
      created.set(host.name, performance.now());
      await createImportedMachine(client, host);
    });
    while (times.size < hosts.length) {
      if (controllers.exitCode !== null) throw new Error('the controllers ended');
      if (performance.now() - began > WITHIN_MS) {
        throw new Error(`${times.size} of ${hosts.length} hosts were imported within ${WITHIN_MS / 1000} s`);
      }
      // oxlint-disable-next-line no-await-in-loop -- the watch takes the times
      await pause(100);
    }
  } finally {
    stop.abort();
    await watching;
  }
  return { allMs: Math.max(...times.values(), began) - began, p95Ms: p95() };

  function read(machine: Machine): void {
    const { name } = machine.metadata;
    if (!created.has(name) || times.has(name)) return;
    if (conditionText(machine, 'AgentReady')?.startsWith('True')) times.set(name, performance.now());
  }

  function p95(): number {
    return percentile(
      [...times].map(([name, at]) => at - (created.get(name) ?? began)),
      0.95,
    );
  }
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function startControllers(kubeconfig: string, programs: string): ChildProcess {
  const args = ['src/cli/main.ts', 'controllers', '--kubeconfig', kubeconfig, '--log-level', 'error'];
  return spawn(process.execPath, [...KUBENODE_FLAGS, ...args, '--agent-programs', programs], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
