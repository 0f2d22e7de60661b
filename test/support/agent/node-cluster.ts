/**
 * A real cluster for real nodes that run the agent as its hardened unit: joined with a token and reached by nothing else, or imported over SSH
 * by the controllers.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildAgentPrograms } from '../../../scripts/agent/build.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { type InstalledServer, startInstalledServer } from '../../cluster/api/installed-server.ts';
import {
  bootstrapConfigFor,
  startIdentityControllers,
} from '../../cluster/controllers/identity-controllers.ts';
import { makeUserKey } from '../../providers/ssh/sshd.ts';
import { putFile } from '../node-kit/rootfs.ts';
import { type BootOptions, type NodeKit, nodeKit, type TestNode } from '../node-kit.ts';
import { tempFolder } from '../temp.ts';
import { testIo } from '../test-io.ts';
import { bootAgentNode, putOwnBootId } from './booted-agent.ts';
import { type FileServer, startFileServer } from './file-server.ts';

export interface NodeCluster extends AsyncDisposable {
  readonly installed: InstalledServer;
  /** The address of this machine for the nodes. */
  readonly hostAddress: string;
  /** A node whose agent joins as this Machine, which is declared already. */
  boot(name: string): Promise<TestNode>;
  /** A host with nothing but sshd. */
  bootBare(name: string, suite?: BootOptions['suite']): Promise<BareHost>;
  /** The same with a kubelet that a person has joined to the cluster. */
  bootJoined(name: string): Promise<BareHost>;
  /** As an administrator, who leaves the grants to their writer. */
  declareMachine(
    name: string,
    components: Machine['spec']['components'],
    labels?: Readonly<Record<string, string>>,
    host?: BareHost,
  ): Promise<void>;
  /** Runs `kubenode import --apply` for these hosts, with their keys pinned. */
  importHosts(hosts: readonly BareHost[], labels: Readonly<Record<string, string>>): Promise<void>;
  readonly serve: FileServer['serve'];
  /** Creates a version of a component. */
  publish(spec: object): Promise<MachineComponentSpec>;
}

export interface BareHost {
  readonly node: TestNode;
  /** How the controllers reach it. */
  readonly import: {
    readonly address: string;
    readonly credentialsRef: { readonly name: string };
    readonly hostKeys: readonly object[];
  };
}

export interface NodeClusterOptions {
  /** Controllers of Kubernetes beside the signer of certificates. */
  readonly kubernetes?: readonly string[];
  /** Whether the controllers import hosts over SSH, with a key of their own. */
  readonly imports?: boolean;
}

/** With `kubenode controllers`, and controllers of Kubernetes. */
export async function startNodeCluster({
  kubernetes = [],
  imports = false,
}: NodeClusterOptions = {}): Promise<NodeCluster> {
  const ends: (() => Promise<unknown>)[] = [];
  async function end(): Promise<void> {
    for (const each of ends.toReversed()) await each();
  }
  try {
    const kit = await nodeKit();
    ends.push(() => kit.close());
    const installed = await startInstalledServer(undefined, {
      bindAddress: '0.0.0.0',
      names: [kit.hostAddress],
    });
    ends.push(() => installed.stop());
    const access = imports ? await prepareImports(installed, kit) : undefined;
    ends.push(await startIdentityControllers(installed, kubernetes, access?.options));
    const files = await startFileServer(kit.hostAddress);
    ends.push(files.close);
    const { client } = installed.server;
    return {
      installed,
      hostAddress: kit.hostAddress,
      boot: (name) => bootAgent(kit, installed, name),
      bootBare: (name, suite) => bootBare(kit, { name, ...(suite && { suite }) }, access?.publicKey ?? ''),
      bootJoined: (name) => bootBare(kit, { name, cluster: installed.server }, access?.publicKey ?? ''),
      async declareMachine(name, components, labels = {}, host) {
        const infra = { provider: host ? 'ssh' : 'local' };
        const spec = { infra, ...(host && { import: host.import }), host: { type: 'systemd' }, components };
        const object = { apiVersion: API, kind: 'Machine', metadata: { name, labels }, spec };
        await client.apply(MACHINES, object, { fieldManager: 'test', force: true });
      },
      importHosts: (hosts, labels) => importHosts(installed, access, hosts, labels),
      serve: files.serve,
      async publish(fields) {
        const spec = fields as MachineComponentSpec;
        const metadata = { name: `${spec.component}-${spec.version}` };
        const object = { apiVersion: API, kind: 'MachineComponent', metadata, spec };
        await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'test', force: true });
        // With the defaults of the server, of which the digest is made.
        return (await client.get<MachineComponent>(MACHINE_COMPONENTS, metadata)).spec;
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

const API = 'kubenode.dev/v1alpha1';

async function bootAgent(kit: NodeKit, installed: InstalledServer, name: string): Promise<TestNode> {
  const local = new URL(installed.server.url);
  const bootstrap = await bootstrapConfigFor(installed, name);
  return await bootAgentNode(kit, name, bootstrap.replaceAll(local.hostname, kit.hostAddress));
}

const SSH_SECRET = 'nodes-ssh';

/** The access with which controllers and the command import hosts. */
interface ImportAccess {
  readonly options: readonly string[];
  readonly publicKey: string;
  /** The file of the private key. */
  readonly identity: string;
  /** The API server as the hosts reach it. */
  readonly server: string;
}

/** Makes the programs and the key that imports use. */
async function prepareImports({ server }: InstalledServer, { hostAddress }: NodeKit): Promise<ImportAccess> {
  const folder = tempFolder('import');
  const key = makeUserKey(folder, 'key');
  const programs = join(folder, 'programs');
  await buildAgentPrograms(programs, [process.arch === 'arm64' ? 'arm64' : 'amd64']);
  const annotations = { 'kubenode.dev/secret-use': 'ssh' };
  await server.client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SSH_SECRET, namespace: NAMESPACE, annotations },
    stringData: { 'ssh-privatekey': key.privateKey },
  });
  const url = new URL(server.url);
  url.hostname = hostAddress;
  return {
    options: ['--agent-programs', programs, '--server-for-hosts', url.origin],
    publicKey: key.publicKey,
    identity: key.file,
    server: url.origin,
  };
}

/** Each host has host keys of its own, so that the command takes none for another. */
async function importHosts(
  { server }: InstalledServer,
  access: ImportAccess | undefined,
  hosts: readonly BareHost[],
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  if (!access) throw new Error('the cluster was started without imports');
  const file = join(tempFolder('hosts'), 'hosts.yaml');
  const listed = hosts.map(({ node, import: { address, hostKeys } }) => ({
    name: node.name,
    address,
    hostKeys,
    labels,
  }));
  await writeFile(file, JSON.stringify({ hosts: listed }));
  const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
  const args = [
    '--from',
    file,
    '--identity',
    access.identity,
    '--server',
    access.server,
    '--secret',
    SSH_SECRET,
  ];
  const code = await runCommandLine(io, ['import', ...args, '--apply', '--no-wait']);
  if (code !== 0) throw new Error(`kubenode import exited with ${code}: ${io.stdout}${io.stderr}`);
}

async function bootBare(
  kit: NodeKit,
  options: Pick<BootOptions, 'name' | 'cluster' | 'suite'>,
  publicKey: string,
): Promise<BareHost> {
  const node = await kit.boot({
    ...options,
    async prepare(root) {
      await putFile(root, 'root/.ssh/authorized_keys', publicKey, 0o600);
      await putOwnBootId(root);
    },
  });
  // Those in the base are the same for all, and sshd of some releases runs with them already.
  await node.run('sh', '-c', 'rm /etc/ssh/ssh_host_*; ssh-keygen -A');
  await node.run('systemctl', 'restart', 'ssh.service');
  const { stdout } = await node.run('ssh-keygen', '-lf', '/etc/ssh/ssh_host_ed25519_key.pub');
  const [, fingerprint = ''] = stdout.split(' ');
  const hostKeys = [{ algorithm: 'ssh-ed25519', fingerprint }];
  return { node, import: { address: node.address, credentialsRef: { name: SSH_SECRET }, hostKeys } };
}
