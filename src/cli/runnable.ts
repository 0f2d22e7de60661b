/** Completes the commands in hints, so that a person can copy them: as their shell finds them, for the cluster that was asked. */
import type { Command } from 'commander';
import { optional } from '../kube/objects/optional.ts';
import type { ConnectionFlags } from './connection.ts';
import type { Io } from './io.ts';

/** The shell in which a command in a hint would run. */
export interface Shell {
  readonly env: Io['env'];
  /** The flags that the command got that prints the hint. */
  readonly flags: ConnectionFlags;
  /** Whether the command is about the hub: a context of a cluster is of no use to it. */
  readonly isOfHub: boolean;
}

export type MakeRunnable = (text: string) => string;

const PROGRAM = /(?<=[`:] ?|\brun |\bwith )kubenode (?=[a-z])/g;
const GROUPS = 'rollout|remedy|machine|defender|component|maintenance';
/**
 * The commands about clusters. The words after "kubenode" distinguish them from prose. The second group is the rest of the command and of
 * its clause.
 */
const OF_CLUSTERS = commandsOf(String.raw`(?:${GROUPS})\s+[a-z-]+|rules\s+explain|why|status`);
const OF_HUB = commandsOf(String.raw`release\s+[a-z-]+|history|plan`);

function commandsOf(words: string): RegExp {
  return new RegExp(String.raw`\b(kubenode (?:${words}))\b(?=((?:[^.:;,\`]|[.:](?=\S))*))`, 'g');
}

export function makeRunnable(text: string, { env, flags, isOfHub }: Shell): string {
  // npm and npx run programs of a folder that a shell finds only by npx.
  const found = env['npm_command'] === undefined ? text : text.replaceAll(PROGRAM, 'npx kubenode ');
  const complete = (_: string, command: string, rest: string): string => command + optionsOf(flags, rest);
  const ofClusters = found.replaceAll(OF_CLUSTERS, complete);
  return isOfHub ? ofClusters.replaceAll(OF_HUB, complete) : ofClusters;
}

/** Returns the options that the rest of the command lacks. */
function optionsOf(flags: ConnectionFlags, rest: string): string {
  return Object.entries(flags)
    .map(([name, value]: [string, string]) =>
      rest.includes(`--${name} `) ? '' : ` --${name} ${shellWord(value)}`,
    )
    .join('');
}

/** Quotes a text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

interface Asked {
  readonly shell: Shell;
  /** Whether stdout is for programs: JSON, YAML, and the output of each command that has no table, such as `render`. */
  readonly printsData: boolean;
}

const HUB_COMMANDS = new Set(['status', 'release', 'history', 'plan', 'sync', 'console']);
const asked = new WeakMap<Io, Asked>();

export function hintsOf(io: Io): MakeRunnable {
  const shell = asked.get(io)?.shell ?? { env: io.env, flags: {}, isOfHub: false };
  return (text) => makeRunnable(text, shell);
}

/** Records the command. Called when the command line is parsed, before the command runs. */
export function noteCommand(io: Io, command: Command): void {
  const { kubeconfig, context, output } = command.opts<ConnectionFlags & { output?: string }>();
  const isOfHub = [command, command.parent].some((each) => HUB_COMMANDS.has(each?.name() ?? ''));
  const flags = { ...optional('kubeconfig', kubeconfig), ...optional('context', context) };
  asked.set(io, { shell: { env: io.env, flags, isOfHub }, printsData: output !== 'table' });
}

/** Returns an Io whose streams complete every command that they print in a sentence, and leave data as they are. */
export function withRunnableHints(io: Io): Io {
  const hinting: Io = {
    ...io,
    out: (text) => io.out(asked.get(hinting)?.printsData ? text : complete(text)),
    err: (text) => io.err(complete(text)),
  };
  return hinting;

  function complete(text: string): string {
    return text.startsWith('{') ? text : hintsOf(hinting)(text);
  }
}
