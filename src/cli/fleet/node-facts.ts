/** The facts of one node, read from the cluster once by the code of the controllers. */
import {
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  Machine,
  MachineComponent,
  MaintenanceEvent,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { NAMESPACE_AGENTS, NAMESPACE_OF_NODE_EVENTS, NAMESPACE_OF_NODE_LEASES } from '../../api/names.ts';
import { createView, type View } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { createLogger } from '../../kube/process/logger.ts';
import { systemRandom } from '../../os/system-random.ts';
import { NODE_EVENTS } from '../../rules/live/fact-views.ts';
import { createLiveFacts } from '../../rules/live/live-facts.ts';
import type { Io } from '../io.ts';
import type { ExplainedNode } from './rule-explanation.ts';

type Selection = Pick<Parameters<typeof createView>[0], 'namespace' | 'fieldSelector'>;

/** The work runs when every view is complete. */
export async function withNodeFacts<T>(
  io: Io,
  client: Client,
  name: string,
  work: (node: ExplainedNode) => Promise<T>,
): Promise<T> {
  const { clock } = io;
  const log = createLogger({ level: 'error', stream: { write: (line) => io.err(line) }, clock });
  const own: Selection = { fieldSelector: `metadata.name=${name}` };
  const all: View<never>[] = [];
  const view = <K extends KubeObject>(resource: Resource<K>, selection: Selection): View<K> => {
    const created = createView<K>({ client, clock, log, random: systemRandom, resource, ...selection });
    all.push(created as unknown as View<never>);
    return created;
  };
  const views = {
    machines: view<Machine>(MACHINES, own),
    nodes: view(NODES, own),
    jobs: view<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { fieldSelector: `spec.machine.name=${name}` }),
    events: view(NODE_EVENTS, {
      namespace: NAMESPACE_OF_NODE_EVENTS,
      fieldSelector: `involvedObject.kind=Node,involvedObject.name=${name}`,
    }),
    agentLeases: view(LEASES, { ...own, namespace: NAMESPACE_AGENTS }),
    nodeLeases: view(LEASES, { ...own, namespace: NAMESPACE_OF_NODE_LEASES }),
    components: view<MachineComponent>(MACHINE_COMPONENTS, {}),
    maintenance: view<MaintenanceEvent>(MAINTENANCE_EVENTS, {}),
  };
  const facts = createLiveFacts({ views, clock, startsAtTransition: true });
  try {
    return await withSynced(io, client, all, async () => {
      const labels = {
        ...views.machines.store.get(name)?.metadata.labels,
        ...views.nodes.store.get(name)?.metadata.labels,
      };
      return await work({ machine: name, labels, facts });
    });
  } finally {
    facts.close();
  }
}

export async function withSynced<T>(
  { signal }: Pick<Io, 'signal'>,
  client: Client,
  views: readonly View[],
  work: () => Promise<T>,
): Promise<T> {
  // The first answer that is an error ends the command with its hint; views would try again for ever.
  await Promise.all(views.map(({ resource }) => client.list(resource, { limit: 1, signal })));
  const stop = new AbortController();
  const running = views.map(({ reflector }) => reflector.run(stop.signal));
  try {
    await Promise.all(views.map(({ reflector }) => reflector.synced(signal)));
    return await work();
  } finally {
    stop.abort();
    await Promise.all(running);
  }
}
