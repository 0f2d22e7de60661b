/** `kubenode install --hub --cluster` into a real API server, and the programs with the credentials that its pods get. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { install } from '../../../src/api/install/install.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import { clusterRole } from '../../../src/api/roles/rbac.ts';
import { programsOf } from '../../../src/cli/commands/install/deploy.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { ENDPOINT_SLICES, NAMESPACES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { createTestRepository } from '../../support/git-server/repository.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { giveRole, guideRole, type Installed, installAs } from './installer.ts';
import { deployment, startPod } from './pod-process.ts';

const DEPLOY = ['--hub', '--cluster', '--registry', 'registry.example.com/platform'];
const PROGRAMS = programsOf({ hub: true, cluster: true });
const INSTALLER = 'pipeline';
const EARLIER_INSTALLER = 'earlier-pipeline';

let server: ApiServer;
/** What each test starts with, by a user with the rights of the guide. */
let firstInstallation: Installed;
/** The kubeconfig of that user. */
let installer: string;
beforeAll(async () => {
  server = await startApiServer();
  installer = await server.kubeconfigFor({ user: INSTALLER, groups: [] });
  await allowInstaller();
  firstInstallation = await installAs(installer, ...DEPLOY);
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(async () => {
  await server?.stop();
});

const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** Gives the installer the role of the guide, and another user what the guide of an earlier version had. */
async function allowInstaller(): Promise<void> {
  const yaml = guideRole();
  await giveRole(server, INSTALLER, yaml);
  const earlier = yaml.replaceAll('get, list, create, patch, delete', 'get, create, patch');
  await giveRole(server, EARLIER_INSTALLER, earlier.replace('kubenode-installer', EARLIER_INSTALLER));
}

const WORKLOADS = ['kubenode-sync', 'kubenode-controllers'].flatMap((name) => [
  `NetworkPolicy/${name}`,
  `PodDisruptionBudget/${name}`,
  `Deployment/${name}`,
]);

describe('kubenode install --hub --cluster', () => {
  it('installs everything for a user with the rights of the guide, and changes nothing the second time', async () => {
    const first = firstInstallation;
    expect(first.errors).toEqual([]);
    expect(first.code).toBe(0);
    expect(Object.keys(first.outcomes)).toEqual(['created']);
    expect(first.outcomes['created']).toEqual(expect.arrayContaining(WORKLOADS));
    const second = await installAs(installer, ...DEPLOY);
    expect(second.code).toBe(0);
    expect(Object.keys(second.outcomes)).toEqual(['unchanged']);
    expect(second.outcomes['unchanged']).toEqual(first.outcomes['created']);
  });

  it('removes with the rights of the guide what an earlier version installed, and warns with fewer rights', async () => {
    const old = clusterRole('kubenode-old', 'Of an earlier version.', []);
    await install(server.client, { clock: createSystemClock(), objects: [old] });
    const earlier = await installAs(await server.kubeconfigFor({ user: EARLIER_INSTALLER, groups: [] }));
    expect(earlier.code).toBe(0);
    expect(Object.keys(earlier.outcomes)).toEqual(['unchanged']);
    expect(earlier.warnings).toEqual([
      expect.stringMatching(
        /^warning: objects of earlier versions of kubenode were not removed: .*forbidden/i,
      ),
    ]);
    const complete = await installAs(installer);
    expect(complete).toMatchObject({
      code: 0,
      warnings: [],
      outcomes: { deleted: ['ClusterRole/kubenode-old'] },
    });
  });
});

describe('kubenode install --metrics', () => {
  const METRICS = [...DEPLOY, '--metrics'];
  const SERVICES = ['Service/kubenode-sync-metrics', 'Service/kubenode-controllers-metrics'];
  const OPERATOR = [
    'ServiceMonitor/kubenode-sync',
    'ServiceMonitor/kubenode-controllers',
    'PrometheusRule/kubenode-cluster',
    'PrometheusRule/kubenode-hub',
  ];

  it('DAT-08 writes annotated Services, and the kinds of the Prometheus Operator once they are served', async () => {
    const plain = await installAs(installer, ...METRICS);
    expect(plain.errors).toEqual([]);
    const created = plain.outcomes['created'] ?? [];
    expect(created).toEqual(expect.arrayContaining(SERVICES));
    expect(created.filter((name) => name.startsWith('ConfigMap/kubenode-dashboard-'))).toHaveLength(7);
    expect(created.filter((name) => OPERATOR.includes(name))).toEqual([]);

    await serveMonitoring();
    const operator = await installAs(installer, ...METRICS);
    expect(operator.errors).toEqual([]);
    // The annotations go: nothing is scraped twice.
    expect(operator.outcomes).toMatchObject({ created: OPERATOR, configured: SERVICES });
    expect(Object.keys((await installAs(installer, ...METRICS)).outcomes)).toEqual(['unchanged']);
  });
});

/** Installs the real CRDs, and waits until the server serves them. */
async function serveMonitoring(): Promise<void> {
  for (const name of ['servicemonitors', 'prometheusrules']) {
    const text = readFileSync(join(import.meta.dirname, 'monitoring-crds', `${name}.yaml`), 'utf8');
    const crd = parse(text) as KubeObject;
    await server.client.apply(CRDS, crd, { fieldManager: 'test' });
    const path = `/apis/monitoring.coreos.com/v1/${name}`;
    await eventually(async () => {
      const found = await server.client.raw(path).catch(() => undefined);
      return found === undefined ? undefined : true;
    }, `${name} are not served`);
  }
}

describe('the ports of the NetworkPolicies', () => {
  it('are compared with those of the API servers of the cluster', async () => {
    await addApiServer(16_443);
    expect(await dryRun()).toContain('warning: the API server of this cluster listens on port 16443,');
    expect(await dryRun('--egress-port', '16443')).not.toContain('port 16443,');
  });
});

/** What it reports on stderr. */
async function dryRun(...more: readonly string[]): Promise<string> {
  const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
  await runCommandLine(io, ['install', ...DEPLOY, '--dry-run', ...more]);
  return io.stderr;
}

/** As an API server beside this one publishes itself. */
async function addApiServer(port: number): Promise<void> {
  const namespace = 'default';
  const fieldManager = 'test';
  const parent = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await server.client.apply(NAMESPACES, parent, { fieldManager });
  const labels = { 'kubernetes.io/service-name': 'kubernetes' };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'another', namespace, labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
  await server.client.apply(ENDPOINT_SLICES, slice, { fieldManager });
}

describe('the pods', () => {
  it('fit the Pod Security Standard restricted', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
    await server.client.apply(NAMESPACES, namespace, { fieldManager: 'test' });
    // Until the server enforces the label.
    await eventually(async () => {
      const refusal = await server.client
        .create(
          PODS,
          podOf({ serviceAccountName: 'kubenode-sync', containers: [{ name: 'a', image: 'a' }] }),
          { dryRun: true },
        )
        .catch((error: Error) => error);
      return refusal instanceof Error && refusal.message.includes('violates PodSecurity') ? true : undefined;
    }, 'the namespace is not restricted');
    for (const { name } of PROGRAMS) {
      const spec = valueAt(await deployment(server, name), 'spec', 'template', 'spec') as Record<
        string,
        unknown
      >;
      const pod = await server.client.create(PODS, podOf(spec), { dryRun: true });
      expect(textAt(pod, 'spec', 'serviceAccountName')).toBe(name);
    }
  });
});

describe('the programs of the pods, with the credentials of their ServiceAccounts', () => {
  it('kubenode controllers leads, and /readyz answers ok; a second one is ready, too, and takes over', async () => {
    const first = await startPod(server, 'kubenode-controllers');
    expect(await first.ready()).toBe(200);
    await eventually(async () => (await leader()).includes(`-${first.pid}-`) || undefined, 'no leader');

    const second = await startPod(server, 'kubenode-controllers');
    expect(await second.ready()).toBe(200);
    expect(await leader()).toContain(`-${first.pid}-`);
    await first.stop();
    await eventually(async () => (await leader()).includes(`-${second.pid}-`) || undefined, 'no new leader');
    expect(await second.ready()).toBe(200);
    for (const log of [first.log(), second.log()]) expect(log).not.toMatch(/forbidden|impersonation/i);
  });

  it('kubenode sync is ready in a hub that has no Pipeline yet', async () => {
    const pod = await startPod(server, 'kubenode-sync');
    expect(await pod.ready()).toBe(200);
    expect(pod.log()).not.toMatch(/forbidden|impersonation/i);
  });
});

const reason = spawnSync('unshare', readOnlyRoot('/tmp').slice(1).concat('true')).status
  ? 'this machine cannot make namespaces'
  : undefined;
if (reason) process.stderr.write(`skipped: ${reason}\n`);

describe.skipIf(reason)(`a container of sync${reason ? ` (${reason})` : ''}`, () => {
  it('renders a commit as process 1, with a read-only root file system, and without rights to make namespaces', async () => {
    const repository = fleetWithPipeline();
    const pod = await startPod(server, 'kubenode-sync', ['--from', repository], readOnlyRoot);
    expect(await pod.ready()).toBe(200);
    await eventually(
      async () => pod.log().includes('"head accepted"') || undefined,
      `no commit was accepted: ${pod.log()}`,
    );
    expect(pod.log()).toContain('expected failure: /usr/kubenode-test');
    expect(pod.log()).not.toMatch(/EROFS|EACCES|forbidden/i);
  });
});

/** In namespaces of its own, which forbid more of them, as the seccomp profile of a container runtime does. */
function readOnlyRoot(folder: string): readonly string[] {
  const script = [
    'mount --bind "$1" "$1"',
    'mount -o remount,ro,bind /',
    'echo 0 > /proc/sys/user/max_user_namespaces',
    '! touch /usr/kubenode-test 2> /dev/null',
    'echo expected failure: /usr/kubenode-test >&2',
    'shift',
    'exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"',
  ].join(' && ');
  const namespaces = [
    '--user',
    '--map-root-user',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
  ];
  return ['unshare', ...namespaces, 'sh', '-c', script, 'sh', folder];
}

/** The URL of a repository whose program declares a Pipeline, and a cluster without credentials. */
function fleetWithPipeline(): string {
  const repository = createTestRepository(tempFolder('fleet'));
  const url = `file://${repository.bare}`;
  const stages =
    "[{ name: 'test', clusterSelector: { matchLabels: { 'kubenode.dev/environment': 'test' } } }]";
  repository.commit('The fleet', {
    'cdk8s.yaml': 'language: typescript\napp: node main.ts\noutput: rendered\n',
    'main.ts': `import { Fleet } from 'kubenode/constructs';
const fleet = new Fleet();
fleet.pipeline('fleet', { source: { repository: '${url}', pollSeconds: 5 }, stages: ${stages} });
fleet.cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } });
fleet.synth();
`,
  });
  return url;
}

function podOf(spec: Readonly<Record<string, unknown>>): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'test', namespace: NAMESPACE }, spec };
}

/** Empty before the first one. */
async function leader(): Promise<string> {
  const { items } = await server.client.list(LEASES, { namespace: NAMESPACE });
  const lease = items.find(({ metadata }) => metadata.name === 'kubenode-controllers');
  return textAt(lease, 'spec', 'holderIdentity') ?? '';
}
