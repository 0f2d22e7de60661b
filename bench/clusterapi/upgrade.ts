/** The real core of Cluster API updates a MachineDeployment in place: whether it replaces a machine, how long it takes, and what kubenode writes there. */
import { stderr } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { install, installation } from '../../src/api/install/install.ts';
import { PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../src/api/names.ts';
import {
  ANNOTATION_UPDATING,
  CLUSTER_API_GROUP,
} from '../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { InstalledServer } from '../../test/cluster/api/installed-server.ts';
import { startUpdateBed, type UpdateBed } from '../../test/cluster/controllers/clusterapi-bed.ts';
import { programSpec } from '../../test/cluster/controllers/rollout-fleet.ts';
import { DEPLOYMENTS, WORKLOAD_NAMESPACE } from '../../test/support/cluster-api/workload-cluster.ts';
import { closeRun, openRun } from '../../test/support/control-plane-run.ts';
import { startServer } from '../../test/support/control-plane-server.ts';
import { eventually } from '../../test/support/eventually.ts';
import { removeFoldersOfFile } from '../../test/support/temp.ts';
import { FROM, KUBELET, TO } from './configs.ts';
import { type LoggedRequest, openRequestLog, requestTable } from './request-log.ts';

const DEPLOYMENT = 'workers';
/** Cluster API updates as many at a time. */
const AT_A_TIME = '20%';
const WITHIN_MS = 1_800_000;
/** Longer than a report waits for a later one. */
const REPORTS_MS = 15_000;
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export interface UpgradeNumbers {
  readonly replaced: number;
  readonly seconds: number;
  /** Writes of kubenode on Machines of Cluster API, for each machine. */
  readonly writesOnTheirs: number;
  /** Writes of the controllers on Machines of kubenode, for each machine. Agents are not in it. */
  readonly writesOnOurs: number;
}

export async function measureUpgrade(machines: number, folder: string): Promise<UpgradeNumbers> {
  const shared = await openRun();
  const log = await openRequestLog(serviceAccountUser(PRINCIPAL_CONTROLLERS), folder);
  const server = await startServer(shared, { flags: log.flags });
  const results = await install(server.client, { clock: createSystemClock(), objects: installation() });
  const errors = results.flatMap(({ error }) => error ?? []);
  if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
  const clients: Client[] = [];
  const installed: InstalledServer = {
    server,
    async as(user, groups = []) {
      const client = await connect({ kubeconfig: await server.kubeconfigFor({ user, groups }) });
      clients.push(client);
      return client;
    },
    async stop() {
      await Promise.all(clients.map((client) => client.close()));
      await server.stop();
    },
  };
  const versions = [FROM.kubelet, TO.kubelet];
  const specs = Object.fromEntries(versions.map((version) => [version, programSpec(KUBELET, version)]));
  const components = [{ name: KUBELET, specs }];
  const bed = await startUpdateBed({ components, version: FROM.kubelet, installed, replicas: machines });
  try {
    await bed.createDeployment(DEPLOYMENT);
    await pause(REPORTS_MS);
    await log.next();
    const { replaced, seconds } = await upgrade(bed, machines);
    await pause(REPORTS_MS);
    const requests = await log.next();
    stderr.write(`  requests during the update of ${machines} machines:\n${requestTable(requests)}`);
    const writes = (group: string): number => countWrites(requests, group) / machines;
    return {
      replaced,
      seconds,
      writesOnTheirs: writes(CLUSTER_API_GROUP),
      writesOnOurs: writes('kubenode.dev'),
    };
  } finally {
    await bed.stop();
    await log.close();
    await closeRun(shared);
    removeFoldersOfFile();
  }
}

async function upgrade(
  bed: UpdateBed,
  machines: number,
): Promise<Pick<UpgradeNumbers, 'replaced' | 'seconds'>> {
  const rollingUpdate = { maxSurge: 0, maxUnavailable: AT_A_TIME };
  const body = { spec: { rollout: { strategy: { rollingUpdate } } } };
  await bed.admin.patch(
    DEPLOYMENTS,
    { namespace: WORKLOAD_NAMESPACE, name: DEPLOYMENT },
    { type: 'merge', body },
  );
  const before = new Set(await bed.uids(DEPLOYMENT));
  const began = performance.now();
  await bed.patchDeployment(DEPLOYMENT, { version: `v${TO.kubelet}` });
  const isUpdated = async (): Promise<true | undefined> => {
    const updated = (await bed.theirs(DEPLOYMENT)).filter(isDone);
    return updated.length === machines || undefined;
  };
  await eventually(isUpdated, 'not all machines are updated', WITHIN_MS);
  const seconds = (performance.now() - began) / 1000;
  const committed = await bed.committed(DEPLOYMENT, KUBELET);
  const others = committed.filter((each) => each !== `${KUBELET}-${TO.kubelet}`);
  if (others.length > 0) throw new Error(`machines with another kubelet: ${others.join(', ')}`);
  const replaced = (await bed.uids(DEPLOYMENT)).filter((uid) => !before.has(uid)).length;
  return { replaced, seconds };
}

function isDone(theirs: KubeObject): boolean {
  const isUpdating = theirs.metadata.annotations?.[ANNOTATION_UPDATING] !== undefined;
  return textAt(theirs, 'spec', 'version') === `v${TO.kubelet}` && !isUpdating;
}

function countWrites(requests: readonly LoggedRequest[], group: string): number {
  const kinds = [`machines.${group}`, `machines.${group}/status`];
  return requests.filter(({ verb, object }) => !READS.has(verb) && kinds.includes(object)).length;
}
