/** Imports through `kubenode controllers` on a real API server: some hosts behind real sshd, the others behind SSH servers of the library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { install, installation } from '../../src/api/install/install.ts';
import { PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../src/api/names.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { ACCOUNTS } from '../../test/cluster/defender/objects.ts';
import { startSilentServer, type UserKey } from '../../test/providers/ssh/sshd.ts';
import { closeRun, openRun } from '../../test/support/control-plane-run.ts';
import { startServer } from '../../test/support/control-plane-server.ts';
import { startControllerManager } from '../../test/support/controller-manager.ts';
import {
  createImportedMachine,
  createSshSecret,
  type HostToImport,
} from '../../test/support/imported-fleet.ts';
import { startSimulatedHost } from '../../test/support/simulated-host.ts';
import { KUBENODE_FLAGS, percentile } from '../bench.ts';
import { readUsage } from '../sync/usage.ts';
import { startSshdMachine } from './sshd-machines.ts';
import { importUntilReady } from './until-ready.ts';

const BIN = new URL('../../bin/kubenode.js', import.meta.url).pathname;
const SINGLE_HOSTS = 5;
/** One host in so many hangs, in the last part. */
const HANGING_IN = 20;
const clock = createSystemClock();

export interface ControllerImports {
  /** From the Machine to Ready, for one host at a time. */
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
  /** How many of them have a real sshd. */
  readonly sshd: number;
  /** For the hosts with a real sshd. */
  readonly folder: string;
}

export async function measureControllerImports(options: ControllerImportOptions): Promise<ControllerImports> {
  const shared = await openRun();
  const server = await startServer(shared);
  const hosts: AsyncDisposable[] = [];
  const stopSigner = await startControllerManager(server, ['csrsigning']);
  let controllers: ChildProcess | undefined;
  try {
    const { client } = server;
    const results = await install(client, { clock, objects: installation() });
    const errors = results.flatMap(({ error }) => error ?? []);
    if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
    await createSshSecret(client, options.key.privateKey);
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await server.kubeconfigFor({ user, groups: ACCOUNTS });
    const start = (): ChildProcess => startControllers(kubeconfig, options.programs);
    // Fills the cache of compiled code (bin/kubenode.js): the package needs no types stripped, and a checkout only the first time.
    controllers = start();
    const [first] = await simulatedHosts({ hosts, options }, { part: 'first', network: 10, count: 1 });
    await importUntilReady({ client, controllers }, first ? [first] : []);
    await ended(controllers);
    controllers = start();
    return await measure({ client, controllers, hosts, options });
  } finally {
    await ended(controllers);
    await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
    await stopSigner();
    await server.stop();
    await closeRun(shared);
  }
}

interface Bed {
  readonly client: Client;
  readonly controllers: ChildProcess;
  /** All that were started. */
  readonly hosts: AsyncDisposable[];
  readonly options: ControllerImportOptions;
}

type HostBed = Pick<Bed, 'hosts' | 'options'>;

interface HostPart {
  readonly part: string;
  readonly network: number;
  readonly count: number;
}

/** Each has an address of its own. */
function simulatedHosts(
  { hosts, options }: HostBed,
  { part, network, count }: HostPart,
): Promise<readonly HostToImport[]> {
  return runConcurrently(indexes(count), async (index) => {
    const address = `127.${network}.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    const host = await startSimulatedHost({ address, authorized: options.key.publicKey });
    hosts.push({ [Symbol.asyncDispose]: () => host.close() });
    return { name: `${part}-${index}`, address, port: host.port, hostKeys: host.hostKeys };
  });
}

function realHosts({ hosts, options }: HostBed): Promise<readonly HostToImport[]> {
  const { folder, key, sshd } = options;
  return runConcurrently(indexes(sshd), async (index) => {
    const name = `sshd-${index}`;
    const machine = await startSshdMachine(join(folder, name), { name, key });
    hosts.push(machine);
    return machine.host;
  });
}

async function measure(bed: Bed): Promise<ControllerImports> {
  const { count, sshd } = bed.options;
  const singles: number[] = [];
  for (const host of await simulatedHosts(bed, { part: 'single', network: 11, count: SINGLE_HOSTS })) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    singles.push((await importUntilReady(bed, [host])).allMs);
  }
  const simulated = await simulatedHosts(bed, { part: 'fleet', network: 12, count: count - sshd });
  const fleet = await importUntilReady(bed, [...(await realHosts(bed)), ...simulated]);
  const { peakMiB: controllersPeakMiB } = await readUsage(bed.controllers.pid ?? 0);
  const hanging = Math.floor(count / HANGING_IN);
  const others = await simulatedHosts(bed, { part: 'other', network: 13, count: count - hanging });
  const silent = await startSilentServer();
  try {
    const [first] = others;
    if (!first) throw new Error('no host was started');
    await runConcurrently(indexes(hanging), (index) =>
      createImportedMachine(bed.client, {
        ...first,
        name: `hanging-${index}`,
        address: `127.0.0.${index + 1}`,
        port: silent.port,
      }),
    );
    const beside = await importUntilReady(bed, others);
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

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function startControllers(kubeconfig: string, programs: string): ChildProcess {
  const args = [BIN, 'controllers', '--kubeconfig', kubeconfig, '--log-level', 'error'];
  return spawn(process.execPath, [...KUBENODE_FLAGS, ...args, '--agent-programs', programs], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
