/** Completes the names of objects in the cluster that a command line selects. */
import type { Argument, Command, Option } from 'commander';
import {
  CLUSTERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  PIPELINES,
  RELEASES,
  REMEDY_OPERATION_JOBS,
} from '../../../api/generated/resources.ts';
import { listAt, ownValue, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { stateFolder } from '../../../local/folders.ts';
import { readLocalFleet } from '../../../local/status.ts';
import { HUB_TARGET } from '../../../sync/rendered.ts';
import { connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';

/** The names that may come next: of the objects of a kind, or of what they list. */
export interface NameQuery {
  readonly resource: Resource;
  /** Returns the names that an object contributes. Default: the name of the object. */
  readonly names?: (object: KubeObject) => readonly string[];
  /** The names to offer beside those in the cluster. */
  readonly more?: readonly string[];
}

/** The source of names: a query of the selected cluster, or the local clusters of this machine. */
export type NameSource = NameQuery | 'LocalClusters';

const SETS: NameQuery = { resource: MACHINE_COMPONENT_SETS };
const MACHINE_NAMES: NameQuery = { resource: MACHINES };
const JOBS: NameQuery = { resource: REMEDY_OPERATION_JOBS };
const RELEASE_NAMES: NameQuery = { resource: RELEASES };

/** Has the names that `kubenode why KIND` takes, by the kind. */
const EXPLAINED: Readonly<Record<string, NameQuery>> = { job: JOBS, release: RELEASE_NAMES, rollout: SETS };

/** The sources by the name of the argument or of the option. */
const QUERIES: Readonly<Record<string, NameSource | ((line: TypedLine) => NameSource | undefined)>> = {
  cluster: ({ command }) => (command.name() === 'simulate' ? 'LocalClusters' : { resource: CLUSTERS }),
  component: { resource: MACHINE_COMPONENTS, names: (object) => textsAt(object, 'spec', 'component') },
  event: { resource: MAINTENANCE_EVENTS },
  'hosted-cluster': { resource: CLUSTERS, names: (object) => (isHosted(object) ? nameOf(object) : []) },
  job: JOBS,
  machine: MACHINE_NAMES,
  // Of `kubenode local kubeconfig` and `kubenode why KIND`.
  name: ({ command, words }) => {
    if (command.name() === 'kubeconfig') return 'LocalClusters';
    if (command.name() !== 'why') return undefined;
    return words.map((word) => ownValue(EXPLAINED, word)).find((each) => each !== undefined) ?? MACHINE_NAMES;
  },
  pipeline: { resource: PIPELINES },
  release: RELEASE_NAMES,
  rule: { resource: NODE_REMEDIERS },
  set: SETS,
  stage: { resource: PIPELINES, names: stagesOf },
  target: { resource: CLUSTERS, more: [HUB_TARGET] },
  unit: ({ words }) => {
    const cluster = flagValue(words, 'cluster');
    return { resource: CLUSTERS, names: (object) => (isOther(object, cluster) ? [] : unitsOf(object)) };
  },
};

function isOther({ metadata }: KubeObject, name: string | undefined): boolean {
  return name !== undefined && metadata.name !== name;
}

function isHosted(cluster: KubeObject): boolean {
  return valueAt(cluster, 'spec', 'hosted') !== undefined;
}

function stagesOf(pipeline: KubeObject): readonly string[] {
  return listAt(pipeline, 'spec', 'stages').flatMap((stage) => textAt(stage, 'name') ?? []);
}

function unitsOf(cluster: KubeObject): readonly string[] {
  return listAt(cluster, 'status', 'sync', 'units').filter((unit) => typeof unit === 'string');
}

function textsAt(object: KubeObject, ...path: readonly string[]): readonly string[] {
  const text = textAt(object, ...path);
  return text === undefined ? [] : [text];
}

/** The time limit of a query: a person waits at a prompt. */
const LIMIT_MS = 2000;
const MAX_NAMES = 500;

export interface TypedLine {
  readonly command: Command;
  /** The words after the names of the commands. */
  readonly words: readonly string[];
}

/** Returns the source of the names that may come next: as the value of an option, or as an argument. Pure. */
export function nextNames(line: TypedLine): NameSource | undefined {
  const name = valueOption(line.command, line.words.at(-1))?.name() ?? nextArgument(line)?.name() ?? '';
  const query = Object.hasOwn(QUERIES, name) ? QUERIES[name] : undefined;
  return typeof query === 'function' ? query(line) : query;
}

/** Returns the values of which one has to come next. Pure. */
export function nextChoices(line: TypedLine): readonly string[] {
  const option = valueOption(line.command, line.words.at(-1));
  return (option ?? nextArgument(line))?.argChoices ?? [];
}

function nextArgument({ command, words }: TypedLine): Argument | undefined {
  if (valueOption(command, words.at(-1))) return undefined;
  const position = words.filter((word, index) => isArgument(command, word, words[index - 1])).length;
  return command.registeredArguments[position];
}

/** Tells whether the next word is the value of an option. Pure. */
export function expectsValue({ command, words }: TypedLine): boolean {
  return valueOption(command, words.at(-1)) !== undefined;
}

function isArgument(command: Command, word: string, before: string | undefined): boolean {
  return !word.startsWith('-') && valueOption(command, before) === undefined;
}

/** Returns the option that the word names, if a value has to follow it. */
function valueOption(command: Command, word: string | undefined): Option | undefined {
  if (!word?.startsWith('-')) return undefined;
  return command.options.find((option) => option.required && (option.long === word || option.short === word));
}

/** Reads the names. Resolves to none where the cluster does not answer at once: a prompt must not hang, and shows no errors. */
export async function readNames(
  io: Io,
  words: readonly string[],
  source: NameSource,
): Promise<readonly string[]> {
  try {
    return await (source === 'LocalClusters' ? readLocalNames(io, words) : readHubNames(io, words, source));
  } catch {
    return source === 'LocalClusters' ? [] : (source.more ?? []);
  }
}

async function readLocalNames({ env }: Io, words: readonly string[]): Promise<readonly string[]> {
  const fleet = await readLocalFleet(flagValue(words, 'dir') ?? stateFolder(env));
  return fleet?.state.clusters.map(({ name }) => name) ?? [];
}

async function readHubNames(
  io: Io,
  words: readonly string[],
  { resource, names = nameOf, more = [] }: NameQuery,
): Promise<readonly string[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LIMIT_MS)]);
  const flags = {
    ...optional('kubeconfig', flagValue(words, 'kubeconfig')),
    ...optional('context', flagValue(words, 'context')),
  };
  const client = await connectFrom({ ...io, err: () => undefined }, flags);
  try {
    const { items } = await client.list(resource, { limit: MAX_NAMES, signal });
    return [...new Set([...items.flatMap((object) => names(object)), ...more])];
  } finally {
    await client.close();
  }
}

function nameOf({ metadata }: KubeObject): readonly string[] {
  return [metadata.name];
}

function flagValue(words: readonly string[], name: string): string | undefined {
  const index = words.indexOf(`--${name}`);
  const joined = words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  return joined ?? (index < 0 ? undefined : words[index + 1]);
}
