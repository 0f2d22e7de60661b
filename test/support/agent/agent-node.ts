/** A real node with the bundle of the agent as its hardened unit, in a real cluster: joined with a token, reached by nothing else. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildBundle } from '../../../scripts/bundle.ts';
import { formatAgentUnit } from '../../../src/agent/service/unit-file.ts';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { sha256OfFile } from '../../../src/os/files.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../../cluster/api/installed-server.ts';
import {
  bootstrapConfigFor,
  startIdentityControllers,
} from '../../cluster/controllers/identity-controllers.ts';
import { eventually } from '../eventually.ts';
import { createGranter, type Granter } from '../granter.ts';
import { putFile, putUnit } from '../node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode } from '../node-kit.ts';
import { tempFolder } from '../temp.ts';
import { entryOf } from './fake-api.ts';

export type ComponentReport = NonNullable<NonNullable<Machine['status']>['components']>[number];

export interface AgentNode extends AsyncDisposable {
  readonly node: TestNode;
  readonly installed: InstalledServer;
  /** URL and digest of a file that the node downloads. */
  serve(file: string): Promise<{ readonly url: string; readonly sha256: string }>;
  /** Creates a version of a component. */
  publish(spec: object): Promise<MachineComponentSpec>;
  /** Declares all components of the machine, and grants what waits. */
  declare(present: readonly MachineComponentSpec[], absent?: readonly MachineComponentSpec[]): Promise<void>;
  report(component: string): Promise<ComponentReport | undefined>;
  /** Resolves when the agent reports this of the component. */
  reported(component: string, expected: Partial<ComponentReport>): Promise<ComponentReport>;
  /** What the agent and its components printed. */
  log(): Promise<string>;
}

const NODE = '/usr/local/bin/node';
const PROGRAM = '/usr/local/lib/kubenode/agent.mjs';
const BOOTSTRAP = '/etc/kubenode/bootstrap.json';
const WITHIN_MS = 240_000;
const LOG_CHARACTERS = 60_000;

export async function startAgentNode(name: string): Promise<AgentNode> {
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
    ends.push(await startIdentityControllers(installed));
    const files = await startFileServer(kit.hostAddress);
    ends.push(files.close);
    await declareMachine(installed, name, []);
    const node = await bootAgent(kit, installed, name);
    const granter = await createTestGranter(installed);
    return {
      ...agentNode({ installed, node, granter, name }),
      serve: files.serve,
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

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
    },
  });
}

async function createTestGranter(installed: InstalledServer): Promise<Granter> {
  const [defender, componentset] = await Promise.all(
    [PRINCIPAL_DEFENDER, PRINCIPAL_COMPONENTSET].map((principal) => {
      const { user, groups } = createPrincipal(principal);
      return installed.as(user, groups);
    }),
  );
  if (!defender || !componentset) throw new Error('not signed in');
  return createGranter({ defender, componentset, clock: createSystemClock() });
}

/** As an administrator, who leaves the grants to their writer. */
async function declareMachine(
  { server }: InstalledServer,
  name: string,
  components: Machine['spec']['components'],
): Promise<void> {
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'local' }, host: { type: 'systemd' }, components },
  };
  await server.client.apply(MACHINES, object, { fieldManager: 'test', force: true });
}

interface AgentNodeParts {
  readonly installed: InstalledServer;
  readonly node: TestNode;
  readonly granter: Granter;
  readonly name: string;
}

function agentNode({
  installed,
  node,
  granter,
  name,
}: AgentNodeParts): Omit<AgentNode, 'serve' | typeof Symbol.asyncDispose> {
  const { client } = installed.server;

  async function report(component: string): Promise<ComponentReport | undefined> {
    const { status } = await client.get<Machine>(MACHINES, { name });
    return status?.components?.find((each) => each.name === component);
  }

  async function log(): Promise<string> {
    const units = ['kubenode-agent', 'kubelet', 'containerd'].map((each) => `--unit=${each}`);
    const { stdout } = await node.run('journalctl', '--output=short-precise', '--no-pager', ...units);
    return stdout;
  }

  return {
    node,
    installed,
    report,
    log,
    async publish(fields) {
      const spec = fields as MachineComponentSpec;
      const metadata = { name: `${spec.component}-${spec.version}` };
      const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata, spec };
      await client.apply(MACHINE_COMPONENTS, object, {
        fieldManager: 'test',
        force: true,
      });
      // With the defaults of the server, of which the digest is made.
      return (await client.get<MachineComponent>(MACHINE_COMPONENTS, metadata)).spec;
    },
    async declare(present, absent = []) {
      const removed = absent.map((spec) => entryOf(spec, false, { state: 'Absent' }));
      await declareMachine(installed, name, [...present.map((spec) => entryOf(spec, false)), ...removed]);
      await granter.grantEntries(name);
    },
    async reported(component, expected) {
      let last: ComponentReport | undefined;
      const found = async (): Promise<ComponentReport | undefined> => {
        last = await report(component);
        const keys = Object.keys(expected) as (keyof ComponentReport)[];
        return last && keys.every((key) => last?.[key] === expected[key]) ? last : undefined;
      };
      const what = `${component} was not reported as ${JSON.stringify(expected)}`;
      return await eventually(found, what, WITHIN_MS).catch(async (error: unknown) => {
        const logs = (await log().catch(String)).slice(-LOG_CHARACTERS);
        throw new Error(`${String(error)}\nlast report: ${JSON.stringify(last)}\n${logs}`, { cause: error });
      });
    },
  };
}

/** Serves files by their digest, as a site of artifacts does. */
async function startFileServer(host: string): Promise<{
  readonly serve: AgentNode['serve'];
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
