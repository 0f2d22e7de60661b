/** `kubenode install --hub --cluster` into a real API server, and the programs with the credentials that its pods get. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { NAMESPACE } from '../../../src/api/names.ts';
import { programsOf } from '../../../src/cli/commands/install/deploy.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CACHE_FOLDER } from '../../../src/deploy/programs.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NAMESPACES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const ROOT = join(import.meta.dirname, '../../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/install.md'), 'utf8');
const DEPLOY = ['--hub', '--cluster', '--registry', 'registry.example.com/platform'];
const PROGRAMS = programsOf({ hub: true, cluster: true });
const run = promisify(execFile);
const INSTALLER = 'pipeline';

let server: ApiServer;
/** The kubeconfig of a user with the rights of the guide. */
let installer: string;
beforeAll(async () => {
  server = await startApiServer();
  installer = await server.kubeconfigFor({ user: INSTALLER, groups: [] });
  await allowInstaller();
  await server.keep();
});
afterAll(async () => {
  await server?.stop();
});

interface Installed {
  readonly code: number;
  readonly outcomes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

/** The outcomes are lists of `kind/name`. */
async function installAs(kubeconfig: string, ...flags: readonly string[]): Promise<Installed> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  const code = await runCommandLine(io, ['install', ...flags, '-o', 'json']);
  const { objects } = JSON.parse(io.stdout || '{"objects":[]}') as {
    objects: { kind: string; name: string; outcome: string }[];
  };
  const byOutcome = Map.groupBy(objects, ({ outcome }) => outcome);
  const names = [...byOutcome].map(([outcome, of]) => [
    outcome,
    of.map(({ kind, name }) => `${kind}/${name}`),
  ]);
  return {
    code,
    outcomes: Object.fromEntries(names) as Installed['outcomes'],
    errors: io.stderr.split('\n').filter((line) => line.startsWith('error:')),
  };
}

const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles');
const BINDINGS = rbac('ClusterRoleBinding', 'clusterrolebindings');

function rbac(kind: string, plural: string): Resource {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural, namespaced: false };
}

/** Gives the installer the role of the guide, word for word. */
async function allowInstaller(): Promise<void> {
  const [, yaml = ''] = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(GUIDE) ?? [];
  const role = parse(yaml) as KubeObject;
  await server.client.create(CLUSTER_ROLES, role);
  await server.client.create(BINDINGS, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'pipeline' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: INSTALLER }],
  });
}

const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const WORKLOADS = ['kubenode-sync', 'kubenode-controllers'].flatMap((name) => [
  `NetworkPolicy/${name}`,
  `PodDisruptionBudget/${name}`,
  `Deployment/${name}`,
]);

describe('kubenode install --hub --cluster', () => {
  it('installs everything for a user with the rights of the guide, and changes nothing the second time', async () => {
    await server.wipe();
    const first = await installAs(installer, ...DEPLOY);
    expect(first.errors).toEqual([]);
    expect(first.code).toBe(0);
    expect(Object.keys(first.outcomes)).toEqual(['created']);
    expect(first.outcomes['created']).toEqual(expect.arrayContaining(WORKLOADS));
    const second = await installAs(installer, ...DEPLOY);
    expect(second.code).toBe(0);
    expect(Object.keys(second.outcomes)).toEqual(['unchanged']);
    expect(second.outcomes['unchanged']).toEqual(first.outcomes['created']);
  });
});

describe('the pods', () => {
  it('fit the Pod Security Standard restricted', async () => {
    await installedFresh();
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
      const spec = valueAt(await deployment(name), 'spec', 'template', 'spec') as Record<string, unknown>;
      const pod = await server.client.create(PODS, podOf(spec), { dryRun: true });
      expect(textAt(pod, 'spec', 'serviceAccountName')).toBe(name);
    }
  });
});

describe('the programs of the pods, with the credentials of their ServiceAccounts', () => {
  it('kubenode controllers leads, and /readyz answers ok; a second one is ready, too, and takes over', async () => {
    await installedFresh();
    const first = await startPod('kubenode-controllers');
    expect(await first.ready()).toBe(200);
    await eventually(async () => (await leader()).includes(`-${first.pid}-`) || undefined, 'no leader');

    const second = await startPod('kubenode-controllers');
    expect(await second.ready()).toBe(200);
    expect(await leader()).toContain(`-${first.pid}-`);
    await first.stop();
    await eventually(async () => (await leader()).includes(`-${second.pid}-`) || undefined, 'no new leader');
    expect(await second.ready()).toBe(200);
    for (const log of [first.log(), second.log()]) expect(log).not.toMatch(/forbidden|impersonation/i);
  });

  it('kubenode sync is ready in a hub that has no Pipeline yet', async () => {
    await installedFresh();
    const pod = await startPod('kubenode-sync');
    expect(await pod.ready()).toBe(200);
    expect(pod.log()).not.toMatch(/forbidden|impersonation/i);
  });
});

async function installedFresh(): Promise<void> {
  await server.wipe();
  const { code } = await installAs(server.kubeconfig, ...DEPLOY);
  expect(code).toBe(0);
}

function deployment(name: string): Promise<KubeObject> {
  return server.client.get(DEPLOYMENTS, { namespace: NAMESPACE, name });
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

interface Pod {
  readonly pid: number | undefined;
  /** Resolves with the status of /readyz once it is 200. */
  ready(): Promise<number>;
  log(): string;
  stop(): Promise<void>;
}

/** Runs the container of the Deployment as a process, with the token, the CA and the variables of a pod. */
async function startPod(name: string): Promise<Pod> {
  const container = listAt(await deployment(name), 'spec', 'template', 'spec', 'containers')[0];
  const home = tempFolder('pod');
  const args = listAt(container, 'args').map((arg) => inProcess(String(arg), home));
  const child = spawn(process.execPath, [join(ROOT, 'bin/kubenode.js'), ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, TMPDIR: home, ...(await podVariables(name, home)) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => ended(child, 'SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  return {
    pid: child.pid,
    ready: () =>
      eventually(async () => ((await statusOf(log)) === 200 ? 200 : undefined), `${name} is not ready`),
    log: () => log,
    stop: () => ended(child, 'SIGTERM'),
  };
}

/** A container has these to itself: a process of this machine does not. */
function inProcess(arg: string, home: string): string {
  return arg
    .replace('$(POD_IP)', '127.0.0.1')
    .replace(CACHE_FOLDER, home)
    .replace(/^8080$/, '0');
}

async function podVariables(account: string, home: string): Promise<Readonly<Record<string, string>>> {
  const { hostname, port } = new URL(server.url);
  const command = ['--kubeconfig', server.kubeconfig, '-n', NAMESPACE, 'create', 'token', account];
  const { stdout } = await run(server.kubectl, command);
  writeFileSync(join(home, 'token'), stdout.trim());
  writeFileSync(join(home, 'ca.crt'), server.caPem);
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    KUBENODE_SERVICE_ACCOUNT_FOLDER: home,
    XDG_CACHE_HOME: home,
  };
}

/** Undefined until the health server listens. */
async function statusOf(log: string): Promise<number | undefined> {
  const url = /"(?:url|health)":"(?<url>http:[^"]+)"/.exec(log)?.groups?.['url'];
  return url === undefined ? undefined : (await fetch(`${url}/readyz`)).status;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
