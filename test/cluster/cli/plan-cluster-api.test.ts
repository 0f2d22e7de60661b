/** `kubenode plan` of a MachineDeployment of Cluster API, with the rights of sync, on a real API server with the published CRDs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, MACHINES, PIPELINES } from '../../../src/api/generated/resources.ts';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { previewOnClusters } from '../../../src/cli/plan/live.ts';
import { CLUSTER_API_GROUP } from '../../../src/controllers/following/clusterapi/contract.ts';
import { EXTENSION_CONFIGS, extensionConfig } from '../../../src/deploy/update-extension.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { CLUSTER_SCOPE } from '../../../src/sync/apply/inventory/config-maps.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { targetLines } from '../../../src/sync/preview/text.ts';
import { clusterApiCrds, noClusterApiReason } from '../../support/cluster-api/crds.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS } from '../defender/objects.ts';
import { commitNo, NEVER, startTestSync, targetOf } from '../sync/target-cluster.ts';
import { giveRole } from './installer.ts';
import { assign, declareVersion, reportMachine } from './rollout-fixture.ts';

const CRDS = [
  'cluster.x-k8s.io_machinedeployments.yaml',
  'runtime.cluster.x-k8s.io_extensionconfigs.yaml',
] as const;
const NAMESPACE = 'fleet';
const LIMITS = { budget: { maxObjects: 10, maxPercent: 20 }, acknowledgements: [] };
const NAMES = ['node-1', 'node-2'] as const;
const SYNC_ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: sync-cluster-api }
rules:
  - apiGroups: [cluster.x-k8s.io]
    resources: [machinedeployments]
    verbs: [get, list, watch, create, update, patch, delete]
`;
const READ_ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: read-extensions }
rules:
  - { apiGroups: [runtime.cluster.x-k8s.io], resources: [extensionconfigs], verbs: [get, list] }
`;
const IN_PLACE =
  'machines of fleet/workers: 2 updated in place: a component covers version v1.36.2 on each machine';

describe.skipIf(noClusterApiReason)('a plan of a MachineDeployment', () => {
  const user = serviceAccountUser(PRINCIPAL_SYNC);
  let installed: InstalledServer;
  let client: Client;
  let kubeconfig: string;

  beforeAll(async () => {
    installed = await startInstalledServer();
    ({ client } = installed.server);
    kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    await serveCrds();
    await giveRole(installed.server, user, SYNC_ROLE);
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await registerHub();
    await declareMachines();
    const sync = await startTestSync(client, await readClusterUID(client, NEVER), CLUSTER_SCOPE);
    await sync.sync(targetOf(commitNo(1), { fleet: [deployment('v1.36.1')] }));
    await sync.close();
  });
  afterAll(() => installed?.stop());

  it('CAP-08 shows what is updated in place and what is replaced, by the extension that is registered, and writes nothing', async () => {
    expect(await planned('v1.36.2')).toContain('if the extension is registered: list extensionconfigs');
    await giveRole(installed.server, user, READ_ROLE);
    expect(await planned('v1.36.2')).toContain(
      '2 REPLACED by Cluster API: no ExtensionConfig for updates in place',
    );
    await register();
    const before = await client.get(DEPLOYMENTS, WORKERS);
    expect(await planned('v1.36.2')).toContain(IN_PLACE);
    expect(await planned('v1.37.0')).toContain(
      '2 REPLACED by Cluster API: no MachineComponent is kubelet v1.37.0',
    );
    expect(await planned('v1.36.2', 'large')).toContain(
      '2 REPLACED by Cluster API: no component covers spec.infrastructureRef',
    );
    expect(await planned('v1.36.1')).not.toContain('machines of fleet/workers');
    expect(await client.get(DEPLOYMENTS, WORKERS)).toEqual(before);
  });

  async function serveCrds(): Promise<void> {
    for (const crd of await clusterApiCrds(CRDS)) {
      await client.apply(resourceOf(crd), crd, { fieldManager: 'clusterctl' });
      const { group, names } = (crd as Crd).spec;
      const served = { apiVersion: `${group}/v1beta2`, kind: names.kind };
      await waitUntilServed(client, createSystemClock(), served, AbortSignal.timeout(60_000));
    }
  }

  /** It is a cluster of its own fleet. */
  async function registerHub(): Promise<void> {
    const kind = { apiVersion: API_VERSION };
    const clusterSelector = { matchLabels: { 'kubenode.dev/environment': 'test' } };
    await client.create(CLUSTERS, {
      ...kind,
      kind: 'Cluster',
      metadata: { name: 'test' },
      spec: { environment: 'test', connection: { inCluster: true } },
    });
    await client.create(PIPELINES, {
      ...kind,
      kind: 'Pipeline',
      metadata: { name: 'fleet' },
      spec: {
        source: { repository: 'https://git.example.com/fleet' },
        stages: [{ name: 'test', clusterSelector }],
      },
    });
  }

  /** As the controllers and agents leave them. */
  async function declareMachines(): Promise<void> {
    const digest = await declareVersion(client, 'kubelet', '1.36.1');
    await declareVersion(client, 'kubelet', '1.36.2');
    for (const [index, name] of NAMES.entries()) {
      const config = { namespace: NAMESPACE, name: `md-${index}`, providerID: `inst://${index}` };
      await client.create(MACHINES, {
        apiVersion: API_VERSION,
        kind: 'Machine',
        metadata: { name, labels: { pool: 'general' } },
        spec: { infra: { provider: 'clusterapi', config } },
      });
      const entry = { name: 'kubelet', componentRef: 'kubelet-1.36.1', digest };
      await assign(installed, name, entry, { set: 'kubelets', revision: 'r-1', batch: 0 });
      await reportMachine(client, name, { agent: { observedGeneration: 1 } });
    }
  }

  /** As Cluster API leaves it after discovery. */
  async function register(): Promise<void> {
    const config = extensionConfig('Wait');
    await client.create(EXTENSION_CONFIGS, config);
    const handler = {
      name: 'kubenode-canupdatemachineset.kubenode',
      requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'CanUpdateMachineSet' },
      timeoutSeconds: 15,
      failurePolicy: 'Fail',
    };
    await client.apply(
      EXTENSION_CONFIGS,
      { apiVersion: config.apiVersion, kind: config.kind, metadata: CONFIG, status: { handlers: [handler] } },
      { fieldManager: 'cluster-api', subresource: 'status' },
    );
  }

  /** The lines of the cluster in the plan of a commit, as one text. */
  async function planned(version: string, size = 'small'): Promise<string> {
    const { commit, ...target } = targetOf(commitNo(2), { fleet: [deployment(version, size)] });
    const to = { commit, targets: [{ ...target, target: 'test' }] };
    const io = testIo({ env: { KUBECONFIG: kubeconfig } });
    const { targets } = await previewOnClusters(
      io,
      {},
      { from: undefined, to, limits: LIMITS, pipeline: 'fleet' },
    );
    const found = targets.find((each) => each.target === 'test');
    expect(found).toMatchObject({ by: 'live' });
    return found
      ? targetLines(found)
          .map((line) => line.trim())
          .join(' ')
      : '';
  }
});

type Crd = KubeObject & {
  readonly spec: { readonly group: string; readonly names: { readonly kind: string } };
};

const CONFIG = { name: 'kubenode' };
const WORKERS = { namespace: NAMESPACE, name: 'workers' };
const DEPLOYMENTS = {
  group: CLUSTER_API_GROUP,
  version: 'v1beta2',
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  namespaced: true,
};

function deployment(version: string, size = 'small'): KubeObject {
  const matchLabels = { pool: 'general' };
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'M', name: size };
  return {
    apiVersion: `${CLUSTER_API_GROUP}/v1beta2`,
    kind: DEPLOYMENTS.kind,
    metadata: WORKERS,
    spec: {
      clusterName: 'c',
      replicas: 2,
      selector: { matchLabels },
      template: {
        metadata: { labels: matchLabels },
        spec: { clusterName: 'c', version, bootstrap: { dataSecretName: 'none' }, infrastructureRef },
      },
    },
  };
}
