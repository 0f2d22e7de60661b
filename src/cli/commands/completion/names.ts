/** The names of objects in the cluster that a command line selects, to complete them. */
import type { Command } from 'commander';
import {
  CLUSTERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  PIPELINES,
  RELEASES,
} from '../../../api/generated/resources.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { connectFrom } from '../../connection.ts';
import type { Io } from '../../io.ts';

/** By the name of the argument or of the option. */
const KINDS: ReadonlyMap<string, Resource> = new Map<string, Resource>([
  ['cluster', CLUSTERS],
  ['machine', MACHINES],
  ['pipeline', PIPELINES],
  ['release', RELEASES],
  ['set', MACHINE_COMPONENT_SETS],
]);

/** A person waits at a prompt. */
const LIMIT_MS = 2000;
const MAX_NAMES = 500;

export interface TypedLine {
  readonly command: Command;
  /** After the names of the commands. */
  readonly words: readonly string[];
}

/** The kind whose names may come next: as the value of an option, or as an argument. Pure. */
export function nextKind({ command, words }: TypedLine): Resource | undefined {
  const option = valueOption(command, words.at(-1));
  if (option !== undefined) return KINDS.get(option);
  const position = words.filter((word, index) => isArgument(command, word, words[index - 1])).length;
  const { registeredArguments } = command;
  return KINDS.get(registeredArguments[position]?.name() ?? '');
}

/** Whether the next word is the value of an option. Pure. */
export function expectsValue({ command, words }: TypedLine): boolean {
  return valueOption(command, words.at(-1)) !== undefined;
}

function isArgument(command: Command, word: string, before: string | undefined): boolean {
  return !word.startsWith('-') && valueOption(command, before) === undefined;
}

/** The name of the option, if a value has to follow the word. */
function valueOption(command: Command, word: string | undefined): string | undefined {
  if (!word?.startsWith('-')) return undefined;
  const found = command.options.find(
    (option) => option.required && (option.long === word || option.short === word),
  );
  return found?.name();
}

/** None where the cluster does not answer at once: a prompt must not hang, and shows no errors. */
export async function readNames(io: Io, words: readonly string[], resource: Resource): Promise<string[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LIMIT_MS)]);
  const flags = { ...flag(words, 'kubeconfig'), ...flag(words, 'context') };
  try {
    const client = await connectFrom({ ...io, err: () => undefined }, flags);
    try {
      const { items } = await client.list(resource, { limit: MAX_NAMES, signal });
      return items.map(({ metadata }) => metadata.name);
    } finally {
      await client.close();
    }
  } catch {
    return [];
  }
}

function flag(words: readonly string[], name: string): Record<string, string> {
  const index = words.indexOf(`--${name}`);
  const joined = words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const value = joined ?? (index < 0 ? undefined : words[index + 1]);
  return value === undefined ? {} : { [name]: value };
}
