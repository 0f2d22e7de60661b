/** The controllers beside 500 Nodes, without machines of Cluster API and with one for each Node: memory, requests while nothing changes, and answers. */
import { stderr } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINES } from '../../src/api/generated/resources.ts';
import { install, installation } from '../../src/api/install/install.ts';
import { resourceOf } from '../../src/api/install/objects.ts';
import { MANAGER_INSTALL, PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../src/api/names.ts';
import { clusterApiRoles } from '../../src/api/roles/all.ts';
import { CONDITION_STEADY } from '../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { waitUntilServed } from '../../src/kube/client/served.ts';
import { listAt, textAt } from '../../src/kube/objects/json.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { ACCOUNTS } from '../../test/cluster/defender/objects.ts';
import { endLease } from '../../test/cluster/defender/processes.ts';
import { kubeadmCrds } from '../../test/support/cluster-api/crds.ts';
import { KUBEADM_API_VERSION, KUBEADM_CONFIGS } from '../../test/support/cluster-api/infrastructure.ts';
import {
  createTheirCluster,
  createTheirNamespace,
  serveClusterApi,
} from '../../test/support/cluster-api/their-objects.ts';
import { THEIR_MACHINES } from '../../test/support/cluster-api/workload-cluster.ts';
import { closeRun, openRun } from '../../test/support/control-plane-run.ts';
import { startServer } from '../../test/support/control-plane-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { createNodes } from '../reflector/nodes.ts';
import { type BenchControllers, startBenchControllers } from './controllers.ts';
import { countRecorded, createComponents, createTheirMachines, giveComponents } from './fleet.ts';
import { type HookTimes, measureHooks } from './hooks.ts';
import {
  countRequests,
  openRequestLog,
  type RequestCounts,
  type RequestLog,
  requestTable,
} from './request-log.ts';

/** Kinds that appear are looked for every 15 seconds, and heartbeats of the process settle. */
const SETTLE_MS = 60_000;
const QUIET_MS = 60_000;
const clock = createSystemClock();

export interface FollowedNumbers {
  readonly without: QuietNumbers;
  readonly with: QuietNumbers;
  /** From the first machine of Cluster API until each is followed, and shows it. */
  readonly following: RequestCounts & { readonly seconds: number };
  readonly hooks: HookTimes;
}

export interface QuietNumbers extends RequestCounts {
  readonly residentMiB: number;
  readonly heapMiB: number;
}

interface Bed {
  readonly client: Client;
  readonly log: RequestLog;
  readonly machines: number;
  readonly start: () => Promise<BenchControllers>;
}

export async function measureFollowed(machines: number, folder: string): Promise<FollowedNumbers> {
  const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
  const shared = await openRun();
  const log = await openRequestLog(user, folder);
  const server = await startServer(shared, { flags: log.flags });
  try {
    const { client } = server;
    await prepare(client, machines);
    const kubeconfig = await server.kubeconfigFor({ user, groups: ACCOUNTS });
    const start = async (): Promise<BenchControllers> => {
      await endLease(client);
      return await startBenchControllers(kubeconfig, folder);
    };
    // Fills the cache of compiled code.
    await (await start()).stop();
    const bed = { client, log, machines, start };
    const without = await measureWithout(bed);
    return { without, ...(await measureWith(bed)) };
  } finally {
    await server.stop();
    await log.close();
    await closeRun(shared);
  }
}

async function prepare(client: Client, machines: number): Promise<void> {
  const results = await install(client, { clock, objects: installation() });
  const errors = results.flatMap(({ error }) => error ?? []);
  if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
  for (const object of [...clusterApiRoles(true), ...(await kubeadmCrds())]) {
    await client.apply(resourceOf(object), object, { fieldManager: MANAGER_INSTALL });
  }
  await serveClusterApi(client);
  const served = { apiVersion: KUBEADM_API_VERSION, kind: KUBEADM_CONFIGS.kind };
  await waitUntilServed(client, clock, served, AbortSignal.timeout(60_000));
  await createTheirNamespace(client);
  await createTheirCluster(client, 'c');
  await createNodes(client, machines);
  await createComponents(client);
}

async function measureWithout(bed: Bed): Promise<QuietNumbers> {
  const controllers = await bed.start();
  try {
    return await measureQuiet(bed, controllers);
  } finally {
    await controllers.stop();
  }
}

async function measureWith(bed: Bed): Promise<Omit<FollowedNumbers, 'without'>> {
  const { client, log, machines, start } = bed;
  const controllers = await start();
  try {
    await log.next();
    const began = performance.now();
    await createTheirMachines(client, machines);
    await eventually(
      async () => (await countSteady(client)) === machines || undefined,
      'not all are followed',
      600_000,
    );
    const seconds = (performance.now() - began) / 1000;
    const requests = await log.next();
    stderr.write(`  requests until ${machines} machines are followed:\n${requestTable(requests)}`);
    const quiet = await measureQuiet(bed, controllers);
    await giveComponents(client);
    await eventually(
      async () => (await countRecorded(client)) === machines || undefined,
      'not all have a record',
    );
    const hooks = await measureHooks(client, controllers, machines);
    return { with: quiet, following: { ...countRequests(requests), seconds }, hooks };
  } finally {
    await controllers.stop();
  }
}

/** Both parts of a fleet: Cluster API reads the condition, and kubenode has the Machine. */
async function countSteady(client: Client): Promise<number> {
  const [{ items: theirs }, { items: ours }] = [
    await client.list(THEIR_MACHINES),
    await client.list(MACHINES),
  ];
  const steady = theirs.filter((each) =>
    listAt(each, 'status', 'conditions').some((condition) => textAt(condition, 'type') === CONDITION_STEADY),
  );
  return Math.min(steady.length, ours.length);
}

async function measureQuiet({ log }: Bed, controllers: BenchControllers): Promise<QuietNumbers> {
  await pause(SETTLE_MS);
  await log.next();
  await pause(QUIET_MS);
  const requests = await log.next();
  stderr.write(`  requests in a minute in which nothing changes:\n${requestTable(requests)}`);
  const residentMiB = await controllers.residentMiB();
  return { ...countRequests(requests), residentMiB, heapMiB: await controllers.heapMiB() };
}
