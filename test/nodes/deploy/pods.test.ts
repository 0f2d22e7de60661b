/** `kubenode install --hub --cluster` with pods on a real node: scheduled, started from an image, probed, and replaced. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CLUSTERS, PIPELINES } from '../../../src/api/generated/resources.ts';
import { ANNOTATION_COMMIT, NAMESPACE } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { evictionOf } from '../../../src/kube/controller/writes/evict.ts';
import { LEASES, readLeaseRecord } from '../../../src/kube/leader/record.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createAuthority, issueCertificate } from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { startControllerManager, startScheduler } from '../../support/controller-manager.ts';
import { eventually } from '../../support/eventually.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../support/git-server/repository.ts';
import { giveStorage } from '../../support/node-kit/capacity.ts';
import { buildProductImage, noEngineReason } from '../../support/node-kit/engine-image.ts';
import { importImage } from '../../support/node-kit/image.ts';
import { imitateProductImage } from '../../support/node-kit/product-image.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const IMAGE = 'registry.example.com/platform/kubenode:test';
/** Of the Service kubernetes, for which a node without kube-proxy has no rule. */
const SERVICE_ADDRESS = '10.96.0.1';
const CONTROLLERS = [
  'node-lifecycle-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
];
const READY_MS = 300_000;
const SELDOM = { interval: 500 };
const ARCHIVE = '/srv/kubenode.tar';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);
const noEngine = reason ?? noEngineReason();
if (noEngine && !reason) process.stderr.write(`an imitation of the image is tested: ${noEngine}\n`);

describe.skipIf(reason)(`pods of kubenode on a real node${reason ? ` (${reason})` : ''}`, () => {
  const ends: (() => Promise<unknown>)[] = [];
  let kit: NodeKit;
  let server: ApiServer;
  let node: TestNode;
  let git: GitHttpServer;
  let caFile: string;
  let repository: TestRepository;

  beforeAll(async () => {
    const now = createSystemClock().now();
    const authority = createAuthority('git-ca', now, 1);
    const archive = noEngine
      ? await imitateProductImage(tempFolder('image'), IMAGE, authority.certPem)
      : await buildProductImage(IMAGE, authority.certPem);
    caFile = join(tempFolder('ca'), 'ca.crt');
    writeFileSync(caFile, authority.certPem);
    kit = await nodeKit();
    ends.push(() => kit.close());
    const names = [kit.hostAddress, SERVICE_ADDRESS];
    server = await startApiServer({ bindAddress: '0.0.0.0', names });
    ends.push(() => server.stop());
    ends.push(await startControllerManager(server, CONTROLLERS), await startScheduler(server));
    const folder = tempFolder('fleet');
    repository = createTestRepository(folder);
    const { hostAddress: host } = kit;
    const request = {
      subject: { commonName: 'git' },
      usage: 'server',
      names: [host],
      now,
      seconds: 86_400,
    } as const;
    const { certPem: cert, keyPem: key } = issueCertificate(authority, request);
    git = await startGitHttpServer({ root: folder, host, tls: { cert, key } });
    ends.push(() => git.close());
    node = await kit.boot({ name: 'node-1', cluster: server, binds: [[archive, ARCHIVE]] });
    await importImage(node);
    await node.run('ctr', '--namespace', 'k8s.io', 'image', 'import', ARCHIVE);
    await routePods();
    await giveStorage(server.client, node);
    await command('install', '--hub', '--cluster', '--image', IMAGE);
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it('are Ready, without root and with a file system that they cannot write, and one of each leads', async () => {
    const pods = await readyPods('kubenode-controllers');
    expect(pods).toHaveLength(2);
    expect(await readyPods('kubenode-sync')).toHaveLength(2);
    const id = await inPod('kubenode-controllers', 'process.getuid() + " " + process.getgid()');
    expect(id).toBe('1000 1000');
    const written = 'try { fs.writeFileSync("/opt/kubenode/x", ""); "written" } catch (e) { e.code }';
    expect(await inPod('kubenode-controllers', `const fs = require("fs"); ${written}`)).toBe('EROFS');
    expect(pods.map(nameOf)).toContain(await leader('kubenode-controllers'));
  });

  it.skipIf(noEngine)(
    `have the Debian packages of the Dockerfile${noEngine ? ` (${noEngine})` : ''}`,
    async () => {
      const execute = 'require("child_process").execFileSync';
      expect(await inPod('kubenode-sync', `${execute}("git", ["--version"]) + ""`)).toMatch(
        /^git version 2\./,
      );
      expect(await inPod('kubenode-sync', `${execute}("sh", ["-c", "ssh -V 2>&1"]) + ""`)).toMatch(
        /^OpenSSH_/,
      );
    },
  );

  it('are replaced, and another one leads, when the one that led is deleted', async () => {
    await readyPods('kubenode-controllers');
    const first = await leader('kubenode-controllers');
    const { metadata } = await server.client.get(PODS, { name: first, namespace: NAMESPACE });
    await server.client.delete(PODS, { name: first, namespace: NAMESPACE }, { uid: metadata.uid ?? '' });
    await eventually(
      async () => ((await leader('kubenode-controllers')) === first ? undefined : true),
      'no other pod leads',
      READY_MS,
    );
    const pods = await eventually(
      async () => {
        const found = (await podsOf('kubenode-controllers')).filter(isReady);
        return found.length === 2 && !found.map(nameOf).includes(first) ? found : undefined;
      },
      'the pod was not replaced',
      READY_MS,
    );
    expect(pods.map(nameOf)).toContain(await leader('kubenode-controllers'));
  });

  it('are evicted one at a time: their budget refuses a second one', async () => {
    const pods = await readyPods('kubenode-sync');
    const evictions = await Promise.all(pods.map(evict));
    expect(evictions.toSorted()).toEqual(['TooManyRequests', 'evicted']);
    expect(await readyPods('kubenode-sync')).toHaveLength(2);
  });

  it('render the commits of a git server, and apply them to the hub', async () => {
    await readyPods('kubenode-sync');
    const url = `${git.url}/fleet.git`;
    const first = repository.commit('The fleet', fleetFiles(url, ['test']));
    await bootstrap(url);
    await expect.poll(() => commitOf('test'), SELDOM).toBe(first);
    const second = repository.commit('Another cluster', fleetFiles(url, ['test', 'other']));
    await expect.poll(() => commitOf('other'), SELDOM).toBe(second);
  });

  /** Of a Cluster: the commit that declares it. Bootstrap creates only the Pipeline. */
  async function commitOf(name: string): Promise<string | undefined> {
    const found = await server.client.get(CLUSTERS, { name });
    return found.metadata.annotations?.[ANNOTATION_COMMIT];
  }

  /** What kube-proxy and a network plugin do: the Service of the API server, and replies to pods. */
  async function routePods(): Promise<void> {
    const { port } = new URL(server.url);
    const service = ['-d', SERVICE_ADDRESS, '-p', 'tcp', '--dport', '443'];
    const target = ['-j', 'DNAT', '--to-destination', `${kit.hostAddress}:${port}`];
    await node.run('iptables', '-t', 'nat', '-A', 'PREROUTING', ...service, ...target);
    await node.run('iptables', '-t', 'nat', '-A', 'POSTROUTING', '-o', 'host0', '-j', 'MASQUERADE');
  }

  async function command(...args: readonly string[]): Promise<void> {
    const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
    expect([await runCommandLine(io, args), io.stderr]).toEqual([0, expect.anything()]);
  }

  /** Creates the Pipeline as the guide states: sync of an administrator, until it has started. */
  async function bootstrap(url: string): Promise<void> {
    const args = ['src/cli/main.ts', 'sync', '--from', url, '--kubeconfig', server.kubeconfig];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile };
    const sync = spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit'] });
    onTestFinished(() => void sync.kill('SIGKILL'));
    const created = (): Promise<unknown> => server.client.get(PIPELINES, { name: 'fleet' });
    await eventually(() => created().catch(() => undefined), 'there is no Pipeline', READY_MS);
    sync.kill('SIGINT');
    await once(sync, 'exit');
  }

  async function podsOf(program: string): Promise<readonly KubeObject[]> {
    const { items } = await server.client.list(PODS, { namespace: NAMESPACE });
    return items.filter(
      ({ metadata }) => metadata.name.startsWith(`${program}-`) && metadata.deletionTimestamp === undefined,
    );
  }

  async function readyPods(program: string): Promise<readonly KubeObject[]> {
    return await eventually(
      async () => {
        const found = (await podsOf(program)).filter(isReady);
        return found.length === 2 ? found : undefined;
      },
      `the pods of ${program} are not Ready`,
      READY_MS,
    );
  }

  /** The pod that holds the Lease of the program. */
  async function leader(program: string): Promise<string> {
    const lease = await server.client.get(LEASES, { name: program, namespace: NAMESPACE });
    const { holder = '' } = readLeaseRecord(lease);
    const found = (await podsOf(program)).find(({ metadata }) => holder.startsWith(metadata.name));
    return found?.metadata.name ?? holder;
  }

  /** The value of an expression in the container of a pod that is Ready. */
  async function inPod(program: string, expression: string): Promise<string> {
    const [pod] = await readyPods(program);
    const id = textAt(listAt(pod, 'status', 'containerStatuses')[0], 'containerID') ?? '';
    const task = [
      'task',
      'exec',
      '--exec-id',
      'test',
      '--user',
      '1000:1000',
      id.replace('containerd://', ''),
    ];
    const { stdout } = await node.run('ctr', '--namespace', 'k8s.io', ...task, 'node', '-p', expression);
    return stdout.trim();
  }

  async function evict(pod: KubeObject): Promise<string> {
    const evicted = server.client.create(PODS, evictionOf(pod, undefined), { subresource: 'eviction' });
    return await evicted.then(
      () => 'evicted',
      (error: unknown) => (isKubeError(error) ? error.code : String(error)),
    );
  }
});

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function isReady(pod: KubeObject): boolean {
  const ready = listAt(pod, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  return textAt(ready, 'status') === 'True';
}

/** A Pipeline, and clusters without credentials. */
function fleetFiles(url: string, clusters: readonly string[]): Readonly<Record<string, string>> {
  const stages =
    "[{ name: 'test', clusterSelector: { matchLabels: { 'kubenode.dev/environment': 'test' } } }]";
  const declared = clusters.map(
    (name) =>
      `fleet.cluster('${name}', { environment: 'test', connection: { credentialsRef: { name: '${name}' } } });`,
  );
  return {
    'cdk8s.yaml': 'language: typescript\napp: node main.ts\noutput: rendered\n',
    'main.ts': `import { Fleet } from 'kubenode/constructs';
const fleet = new Fleet();
fleet.pipeline('fleet', { source: { repository: '${url}', pollSeconds: 5 }, stages: ${stages} });
${declared.join('\n')}
fleet.synth();
`,
  };
}
