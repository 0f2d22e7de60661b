/** The facts of one node, read from the cluster once by the code of the controllers. */
import { createView, type View } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import { createLogger } from '../../kube/process/logger.ts';
import type { Prometheus } from '../../observability/query/client.ts';
import { systemRandom } from '../../os/system-random.ts';
import { createLiveFacts, type LiveFactsOptions } from '../../rules/live/live-facts.ts';
import { createMetricReader } from '../../rules/live/metric-reader.ts';
import { createWorkloadReader } from '../../rules/live/workload-reader.ts';
import type { FactViewKind, ViewSelection } from '../../rules/view-kind.ts';
import { createFactViews, type FactViewName, type FactViews } from '../../rules/views.ts';
import type { Io } from '../io.ts';
import type { ExplainedNode } from './rule-explanation.ts';

const ONLY_NODE = 'only the objects of this node were read: kubenode rules explain reads all of them';

/** Reading needs no more of a command. */
type ReadIo = Pick<Io, 'clock' | 'signal' | 'err'>;

export interface ReadNode {
  readonly name: string;
  /** The views of which the objects of all nodes are read. */
  readonly whole?: ReadonlySet<FactViewName>;
  /** Whether the Pods of the node are read. */
  readonly pods?: boolean;
  /** The queries that are asked, and whom. */
  readonly metrics?: { readonly prometheus: Prometheus; readonly queries: readonly string[] };
}

/** The work runs when every view is complete. */
export async function withNodeFacts<T>(
  io: ReadIo,
  client: Client,
  node: ReadNode,
  work: (node: ExplainedNode) => Promise<T>,
): Promise<T> {
  const { clock } = io;
  const { name, whole = new Set(), metrics } = node;
  const { views, all } = createReadViews(io, client, ({ selection, ofNode }, view) => ({
    ...selection,
    ...(whole.has(view) ? {} : ofNode?.(name)),
  }));
  const readers = createReaders(io, client, node);
  const facts = createLiveFacts({
    views,
    clock,
    startsAtTransition: true,
    ...optional('fleetProblem', whole.size > 0 ? undefined : ONLY_NODE),
    ...readers,
  });
  try {
    await readers.workloads?.refresh(name);
    await readers.metrics?.refresh(metrics?.queries ?? []);
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

/** Creates what reads facts that are in no view. */
function createReaders(
  io: ReadIo,
  client: Client,
  { pods = false, metrics }: ReadNode,
): Pick<LiveFactsOptions, 'workloads' | 'metrics'> {
  const shared = { clock: io.clock, log: createErrorLog(io) };
  return {
    ...(pods && { workloads: createWorkloadReader({ ...shared, client }) }),
    ...(metrics && { metrics: createMetricReader({ ...shared, ...metrics, isOnce: true }) }),
  };
}

/** Logs errors only: the answer of the command has what is unknown. */
function createErrorLog({ clock, err }: Pick<Io, 'clock' | 'err'>): Log {
  return createLogger({ level: 'error', stream: { write: (line) => err(line) }, clock });
}

export interface ReadViews {
  readonly views: FactViews;
  readonly all: readonly View[];
}

/** Creates the views of facts for a command. */
export function createReadViews(
  io: ReadIo,
  client: Client,
  selectionOf: (kind: FactViewKind, name: FactViewName) => ViewSelection | undefined,
): ReadViews {
  const { clock } = io;
  const log = createErrorLog(io);
  const all: View[] = [];
  const views = createFactViews((kind, name) => {
    const { resource } = kind;
    const view = createView({
      client,
      clock,
      log,
      random: systemRandom,
      resource,
      ...selectionOf(kind, name),
    });
    all.push(view);
    return view;
  });
  return { views, all };
}

export async function withSynced<T>(
  { signal }: Pick<Io, 'signal'>,
  client: Client,
  views: readonly View[],
  work: () => Promise<T>,
): Promise<T> {
  // The first answer that is an error ends the command with its hint; views would try again for ever.
  await Promise.all(
    views.map(({ resource, namespace }) =>
      client.list(resource, { limit: 1, signal, ...optional('namespace', namespace) }),
    ),
  );
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
