/** What changes on machines, Nodes, pods and a set while a component changes, in the order in which the API server stored it. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine, MachineComponentReport, MachineComponentSet } from '../../src/api/generated/types.ts';
import { hasStartupTaint } from '../../src/api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../src/api/names.ts';
import type { Client, WatchEvent } from '../../src/kube/client/client.ts';
import { NODES, PODS } from '../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';
import { optional } from '../../src/kube/objects/optional.ts';

export interface Journal extends AsyncDisposable {
  /** From the beginning, or since the line that this number of lines precedes. */
  lines(from?: number): readonly string[];
}

/** The state of an object, by topic. A line is written when a topic changes; undefined changes nothing. */
type Facts = Readonly<Record<string, string | undefined>>;

type FactsOf = (object: KubeObject) => Facts;

function kindsFor(component: string): readonly (readonly [Resource, FactsOf])[] {
  return [
    [MACHINES, (object) => machineFacts(object as Machine, component)],
    [MACHINE_COMPONENT_SETS, (object) => setFacts(object as MachineComponentSet)],
    [NODES, nodeFacts],
    [PODS, podFacts],
  ];
}

/** Follows one component of the machines. */
export async function startJournal(client: Client, component: string): Promise<Journal> {
  const stop = new AbortController();
  // The server counts the writes of all kinds together.
  const entries: { readonly version: bigint; readonly line: string }[] = [];
  const last = new Map<string, string>();
  const watches = await Promise.all(
    kindsFor(component).map(async ([resource, factsOf]) => {
      const { items, resourceVersion } = await client.list(resource);
      for (const object of items) note(factsOf(object), object);
      return { resource, factsOf, from: resourceVersion };
    }),
  );
  const running = Promise.all(watches.map(follow));
  return {
    lines: (from = 0) =>
      entries
        .toSorted((a, b) => Number(a.version - b.version))
        .slice(from)
        .map(({ line }) => line),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };

  function note(facts: Facts, { kind, metadata }: KubeObject): void {
    for (const [topic, text] of Object.entries(facts)) {
      const key = `${kind}/${metadata.uid}/${topic}`;
      if (text === undefined || last.get(key) === text) continue;
      last.set(key, text);
      const line = `${metadata.name} ${text}`.replaceAll(`${component}-`, '');
      entries.push({ version: BigInt(metadata.resourceVersion ?? 0), line });
    }
  }

  async function follow(watch: (typeof watches)[number]): Promise<void> {
    let { from } = watch;
    while (!stop.signal.aborted) {
      try {
        for await (const { type, object } of events(watch.resource, from)) {
          from = object.metadata.resourceVersion ?? from;
          note(type === 'BOOKMARK' ? {} : watch.factsOf(object), object);
        }
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      }
    }
  }

  function events(resource: Resource, resourceVersion: string): AsyncIterable<WatchEvent> {
    return client.watch(resource, { resourceVersion, timeoutSeconds: 600, signal: stop.signal });
  }
}

const STATES: ReadonlySet<string> = new Set(['Committed', 'RolledBack']);

function machineFacts({ spec, status }: Machine, component: string): Facts {
  const entry = spec.components.find(({ name }) => name === component);
  if (!entry) return {};
  const isDrained = status?.drain?.state === 'Drained';
  return {
    entry: `is assigned ${entry.componentRef}`,
    grant: entry.grant ? 'has a grant' : 'has no grant',
    ...optional('drain', isDrained ? `is drained for ${entry.componentRef}` : undefined),
    ...reportFacts(status?.components?.find(({ name }) => name === component)),
  };
}

function reportFacts({ currentRef, state }: Partial<MachineComponentReport> = {}): Facts {
  return state && STATES.has(state) ? { state: `is ${state} at ${currentRef}` } : {};
}

function nodeFacts(node: KubeObject): Facts {
  const { annotations = {} } = node.metadata;
  const ready = listAt(node, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  const isOurs = Object.hasOwn(annotations, ANNOTATION_CORDONED_BY);
  const isCordoned = valueAt(node, 'spec', 'unschedulable') === true;
  return {
    kubelet:
      textAt(ready, 'status') === 'True'
        ? `is Ready with ${textAt(node, 'status', 'nodeInfo', 'kubeletVersion')}`
        : undefined,
    start: hasStartupTaint(node) ? 'has the start-up taint' : 'has no start-up taint',
    cordon: isCordoned ? `is cordoned by ${isOurs ? 'kubenode' : 'someone'}` : 'is not cordoned',
  };
}

/** The condition that the Eviction API sets before it deletes. */
function podFacts(pod: KubeObject): Facts {
  const found = listAt(pod, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === 'DisruptionTarget',
  );
  const reason = textAt(found, 'reason');
  return { eviction: reason === 'EvictionByEvictionAPI' ? 'is evicted' : undefined };
}

function setFacts({ status }: MachineComponentSet): Facts {
  const { batch, history = [] } = status ?? {};
  const ended = history.find(({ finishedAt }) => finishedAt !== undefined);
  const soaks = batch?.soakUntil === undefined ? undefined : `soaks batch ${batch.index}`;
  return {
    ...optional('batch', batch && `opens batch ${batch.index}`),
    ...optional('soak', soaks),
    ...optional('end', ended && `ends ${ended.components?.join(' ')}: ${ended.result}`),
  };
}
