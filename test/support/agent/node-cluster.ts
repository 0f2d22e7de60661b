/** A real cluster for real nodes that run the bundle of the agent as its hardened unit: joined with a token, reached by nothing else. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildBundle } from '../../../scripts/bundle.ts';
import { formatAgentUnit } from '../../../src/agent/install/own-unit.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import { type InstalledServer, startInstalledServer } from '../../cluster/api/installed-server.ts';
import {
  bootstrapConfigFor,
  startIdentityControllers,
} from '../../cluster/controllers/identity-controllers.ts';
import { putFile, putUnit } from '../node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode } from '../node-kit.ts';
import { tempFolder } from '../temp.ts';

export interface NodeCluster extends AsyncDisposable {
  readonly installed: InstalledServer;
  /** A node whose agent joins as this Machine, which is declared already. */
  boot(name: string): Promise<TestNode>;
  /** As an administrator, who leaves the grants to their writer. */
  declareMachine(
    name: string,
    components: Machine['spec']['components'],
    labels?: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** URL and digest of a file that the nodes download. */
  serve(file: string): Promise<{ readonly url: string; readonly sha256: string }>;
  /** Creates a version of a component. */
  publish(spec: object): Promise<MachineComponentSpec>;
}

const NODE = '/usr/local/bin/node';
const PROGRAM = '/usr/local/lib/kubenode/agent.mjs';
/** systemd-nspawn mounts a boot id of the node into /proc/sys. A unit with one of these options sees that of this machine. */
const OWN_BOOT_ID = '[Service]\nProtectKernelTunables=no\nProtectControlGroups=no\n';
/** What the agent joins with. */
export const BOOTSTRAP = '/etc/kubenode/bootstrap.json';

/** With `kubenode controllers`, and controllers of Kubernetes: the signer of certificates, and those. */
export async function startNodeCluster(kubernetes: readonly string[] = []): Promise<NodeCluster> {
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
    ends.push(await startIdentityControllers(installed, kubernetes));
    const files = await startFileServer(kit.hostAddress);
    ends.push(files.close);
    const { client } = installed.server;
    return {
      installed,
      boot: (name) => bootAgent(kit, installed, name),
      async declareMachine(name, components, labels = {}) {
        const spec = { infra: { provider: 'local' }, host: { type: 'systemd' }, components };
        const object = { apiVersion: API, kind: 'Machine', metadata: { name, labels }, spec };
        await client.apply(MACHINES, object, { fieldManager: 'test', force: true });
      },
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
  const { file } = await buildBundle('agent', tempFolder('bundle'));
  const program = await readFile(file, 'utf8');
  const local = new URL(installed.server.url);
  const bootstrap = await bootstrapConfigFor(installed, name);
  return await kit.boot({
    name,
    binds: [[process.execPath, NODE]],
    async prepare(root) {
      await putFile(root, PROGRAM, program, 0o755);
      await putFile(root, BOOTSTRAP, bootstrap.replaceAll(local.hostname, kit.hostAddress), 0o600);
      const options = { machine: name, node: NODE, program: PROGRAM, bootstrap: BOOTSTRAP, port: 0 };
      await putUnit(root, 'kubenode-agent.service', formatAgentUnit(options));
      await putFile(root, 'etc/systemd/system/kubenode-agent.service.d/boot-id.conf', OWN_BOOT_ID);
    },
  });
}

/** Serves files by their digest, as a site of artifacts does. */
async function startFileServer(host: string): Promise<{
  readonly serve: NodeCluster['serve'];
  readonly close: () => Promise<void>;
}> {
  const files = new Map<string, string>();
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (file === undefined) response.writeHead(404).end();
    else createReadStream(file).pipe(response.writeHead(200, { 'content-length': statSync(file).size }));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, host, resolve);
  await listening;
  const { port } = server.address() as AddressInfo;
  return {
    async serve(file) {
      const sha256 = await sha256OfFile(file);
      const path = `/${createHash('sha256').update(file).digest('hex').slice(0, 8)}-${sha256}`;
      files.set(path, file);
      return { url: `http://${host}:${port}${path}`, sha256 };
    },
    close: async () => {
      server.closeAllConnections();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}
