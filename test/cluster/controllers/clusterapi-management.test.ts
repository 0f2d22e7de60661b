/**
 * `kubenode controllers --cluster-api-kubeconfig` on two real API servers: the Nodes are in one, and the objects of Cluster API in the other. Its
 * managers do not run: what they would write is written here.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterApiObjects } from '../../../src/api/clusterapi/installation.ts';
import { KUBENODE_REMEDIATIONS, type KubenodeRemediation } from '../../../src/api/clusterapi/remediation.ts';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { install, installation } from '../../../src/api/install/install.ts';
import {
  NAMESPACE,
  PRINCIPAL_CLUSTERAPI,
  PRINCIPAL_CONTROLLERS,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import {
  createTheirCluster,
  createTheirMachine,
  createTheirNamespace,
  serveClusterApi,
} from '../../support/cluster-api/their-objects.ts';
import {
  THEIR_API_VERSION,
  THEIR_MACHINES,
  WORKLOAD_NAMESPACE,
} from '../../support/cluster-api/workload-cluster.ts';
import { LONG } from '../../support/sweep-size.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { killed, startLoggedControllers } from '../defender/processes.ts';
import { createInstanceNode, findMachine, heldOf, providerIdOf, shownOn } from './followed-machines.ts';
import { POLICY } from './machine-cluster.ts';

const USER = { user: serviceAccountUser(PRINCIPAL_CONTROLLERS), groups: ACCOUNTS };
/** The account for one Cluster in the management cluster, which has rights in its namespace only. */
const ACCOUNT = 'clusterapi-c';
const STALE = { interval: 1000 };

describe.skipIf(noClusterApiReason)('Machines of a management cluster', () => {
  let workload: InstalledServer;
  let management: InstalledServer;
  let admin: Client;
  let theirs: Client;
  let controllers: ChildProcess | undefined;
  let logged = '';

  beforeAll(async () => {
    workload = await startInstalledServer();
    management = await startInstalledServer();
    admin = workload.server.client;
    theirs = management.server.client;
    // As `kubenode install --cluster-api` does, in both.
    const objects = [...clusterApiObjects(), ...installation()];
    for (const client of [admin, theirs]) {
      const results = await install(client, { clock: createSystemClock(), objects });
      if (results.some(({ outcome }) => outcome === 'failed')) throw new Error('the installation failed');
    }
    await serveClusterApi(theirs);
    await createTheirNamespace(theirs);
    for (const name of ['c', 'd']) await createTheirCluster(theirs, name);
    await applyFleetDefault(workload, POLICY);
    const own = await workload.server.kubeconfigFor(USER);
    await bindAccount(theirs);
    const there = await management.server.kubeconfigFor({
      user: serviceAccountUser(ACCOUNT),
      groups: ACCOUNTS,
    });
    const flags = ['--cluster-api', '--cluster-api-kubeconfig', there, '--cluster-api-cluster', 'fleet/c'];
    controllers = startLoggedControllers(own, (text) => (logged += text), ...flags);
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await workload?.stop();
    await management?.stop();
  });

  it('CAP-21 are followed, those of other Clusters are left out, and holds are shown there', async () => {
    await createInstanceNode(admin, 'a');
    await createInstanceNode(admin, 'b');
    await createTheirMachine(theirs, 'b', 'd');
    await createTheirMachine(theirs, 'a');
    await expect.poll(() => providerIdOf(admin, 'node-a')).toBe('inst://a');
    await expect.poll(() => shownOn(theirs, 'md-a')).toBe('no hook; True Steady');
    await hold('node-a', { reason: 'forensics', scope: 'Disruptive' });
    await expect.poll(() => shownOn(theirs, 'md-a')).toBe('held: forensics; True Held');
    await hold('node-a', null);
    await expect.poll(() => shownOn(theirs, 'md-a')).toBe('no hook; True Steady');
    expect([await findMachine(admin, 'node-b'), await shownOn(theirs, 'md-b')]).toEqual([
      undefined,
      'no hook; nothing',
    ]);
  });

  it('CAP-21 answer the requests of health checks for this Cluster, and no others', async () => {
    await createInstanceNode(admin, 'e');
    await createTheirMachine(theirs, 'e');
    await createTheirMachine(theirs, 'f', 'd');
    await expect.poll(() => providerIdOf(admin, 'node-e')).toBe('inst://e');
    await request('f', 'd');
    await request('e', 'c');
    const answered = async (id: string): Promise<string | undefined> => {
      const target = { namespace: WORKLOAD_NAMESPACE, name: `md-${id}` };
      const { status } = await theirs.get<KubenodeRemediation>(KUBENODE_REMEDIATIONS, target);
      return conditionOf(status?.conditions, 'Repairing')?.reason;
    };
    await expect.poll(() => answered('e')).toBe('RuleNotFound');
    const requested = async (): Promise<string | undefined> => {
      const machine = await findMachine(admin, 'node-e');
      return conditionOf(machine?.status?.conditions, 'RemediationRequested')?.status;
    };
    await expect.poll(requested).toBe('True');
    expect(await answered('f')).toBeUndefined();
  });

  // A server that is away is stale after 90 seconds only, and found again later.
  it.skipIf(!LONG)(
    'CAP-21 are held and kept while the management cluster is away, and go with theirs when it is back',
    async () => {
      await createInstanceNode(admin, 'g');
      await createTheirMachine(theirs, 'g');
      await expect.poll(() => providerIdOf(admin, 'node-g')).toBe('inst://g');
      const uid = (await findMachine(admin, 'node-g'))?.metadata.uid;
      await management.server.kill('SIGKILL');
      await expect.poll(() => heldOf(admin, 'node-g'), STALE).toMatch(/^True NotObserved/);
      expect((await findMachine(admin, 'node-g'))?.metadata.uid).toBe(uid);
      await management.server.start();
      await expect.poll(() => heldOf(admin, 'node-g'), STALE).toBe('False no hold applies');
      const target = { namespace: WORKLOAD_NAMESPACE, name: 'md-g' };
      const found = await theirs.get(THEIR_MACHINES, target);
      await theirs.delete(THEIR_MACHINES, target, { uid: found.metadata.uid ?? '' });
      await expect.poll(() => findMachine(admin, 'node-g'), STALE).toBeUndefined();
      expect(logged).not.toContain('"level":"error"');
    },
  );

  async function hold(name: string, value: object | null): Promise<void> {
    await admin.patch(MACHINES, { name }, { type: 'merge', body: { spec: { hold: value } } });
  }

  /** As the health check creates it. */
  async function request(id: string, cluster: string): Promise<KubeObject> {
    const name = `md-${id}`;
    const { metadata } = await theirs.get(THEIR_MACHINES, { namespace: WORKLOAD_NAMESPACE, name });
    const owner = { apiVersion: THEIR_API_VERSION, kind: 'Machine', name, uid: metadata.uid ?? '' };
    const { group, version, kind } = KUBENODE_REMEDIATIONS;
    return await theirs.create(KUBENODE_REMEDIATIONS, {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: {
        namespace: WORKLOAD_NAMESPACE,
        name,
        labels: { 'cluster.x-k8s.io/cluster-name': cluster },
        ownerReferences: [owner],
      },
      spec: { rule: 'none' },
    });
  }
});

/** As the guide does with kubectl. */
async function bindAccount(client: Client): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const kind = 'RoleBinding';
  await client.create(
    { group, version: 'v1', kind, plural: 'rolebindings', namespaced: true },
    {
      apiVersion: `${group}/v1`,
      kind,
      metadata: { namespace: WORKLOAD_NAMESPACE, name: ACCOUNT },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: PRINCIPAL_CLUSTERAPI },
      subjects: [{ kind: 'ServiceAccount', namespace: NAMESPACE, name: ACCOUNT }],
    },
  );
}
