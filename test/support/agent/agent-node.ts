/** A real node with an agent in a real cluster, and the components that a test declares on it. */
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { InstalledServer } from '../../cluster/api/installed-server.ts';
import { eventually } from '../eventually.ts';
import { createGranter, type Granter } from '../granter.ts';
import type { TestNode } from '../node-kit.ts';
import { entryOf } from './fake-api.ts';
import { type NodeCluster, startNodeCluster } from './node-cluster.ts';

export type ComponentReport = NonNullable<NonNullable<Machine['status']>['components']>[number];

export interface AgentNode extends AsyncDisposable, Pick<NodeCluster, 'installed' | 'serve' | 'publish'> {
  readonly node: TestNode;
  /** Declares all components of the machine, and grants what waits. */
  declare(present: readonly MachineComponentSpec[], absent?: readonly MachineComponentSpec[]): Promise<void>;
  report(component: string): Promise<ComponentReport | undefined>;
  /** Resolves when the agent reports this of the component. */
  reported(component: string, expected: Partial<ComponentReport>): Promise<ComponentReport>;
  /** What the agent and its components printed. */
  log(): Promise<string>;
}

const LOG_CHARACTERS = 60_000;

export async function startAgentNode(name: string): Promise<AgentNode> {
  const cluster = await startNodeCluster();
  try {
    await cluster.declareMachine(name, []);
    const node = await cluster.boot(name);
    const granter = await createTestGranter(cluster.installed);
    return agentNode({ cluster, node, granter, name });
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
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

interface AgentNodeParts {
  readonly cluster: NodeCluster;
  readonly node: TestNode;
  readonly granter: Granter;
  readonly name: string;
}

function agentNode({ cluster, node, granter, name }: AgentNodeParts): AgentNode {
  const { client } = cluster.installed.server;

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
    ...cluster,
    node,
    report,
    log,
    async declare(present, absent = []) {
      const removed = absent.map((spec) => entryOf(spec, false, { state: 'Absent' }));
      await cluster.declareMachine(name, [...present.map((spec) => entryOf(spec, false)), ...removed]);
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
      return await eventually(found, what).catch(async (error: unknown) => {
        const logs = (await log().catch(String)).slice(-LOG_CHARACTERS);
        throw new Error(`${String(error)}\nlast report: ${JSON.stringify(last)}\n${logs}`, { cause: error });
      });
    },
  };
}
