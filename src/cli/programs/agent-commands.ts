/** The command line of the bundle: the commands of `kubenode agent`, parsed with Node.js alone. */
import { resolve } from 'node:path';
import { formatAgentUnit } from '../../agent/install/own-unit.ts';
import { optional } from '../../kube/objects/optional.ts';
import { printableText } from '../../kube/objects/printable.ts';
import { formatJson } from '../../views/text/json.ts';
import { type AgentAnswer, answerComponents, answerStatus, answerWhy } from '../commands/agent/answers.ts';
import { AGENT_COMMANDS, type AgentCommandName } from '../commands/agent/definitions.ts';
import {
  type AgentCommandDefinition,
  type AgentOption,
  formatOptionName,
  runtimeOf,
} from '../commands/agent/option.ts';
import { ownAgentProgram } from '../commands/agent/own-process.ts';
import { startAgent, startWatchdog } from '../commands/agent/start.ts';
import { TAKEOVER_COMMANDS, type TakeoverCommandName } from '../commands/agent/takeover/definitions.ts';
import { readStandardInput, runTakeover } from '../commands/agent/takeover/run.ts';
import { CliError, describeError, EXIT, type ExitCode } from '../errors.ts';
import type { Io } from '../io.ts';
import { type Flags, parseCommandArguments } from './agent-flags.ts';

/** Set by the bundler. */
declare const KUBENODE_BUNDLE_VERSION: string;
const VERSION = typeof KUBENODE_BUNDLE_VERSION === 'string' ? KUBENODE_BUNDLE_VERSION : 'source';

const OUTPUT: AgentOption = {
  name: 'output',
  value: 'format',
  description: 'output format',
  choices: ['table', 'json'],
  default: 'table',
};

interface ProgramCommand extends AgentCommandDefinition {
  readonly run: (io: Io, flags: Flags, argument: string) => Promise<ExitCode>;
}

const COMMANDS: Readonly<Record<AgentCommandName, ProgramCommand>> = {
  run: { ...AGENT_COMMANDS.run, run: runAgentCommand },
  status: readCommand('status', (_, directory, now) => answerStatus(directory, now)),
  components: readCommand('components', (_, directory, now) => answerComponents(directory, now)),
  why: readCommand('why', answerWhy),
  unit: { ...AGENT_COMMANDS.unit, run: printUnit },
  watchdog: { ...AGENT_COMMANDS.watchdog, run: runWatchdogCommand },
  install: takeoverCommand('install'),
  request: takeoverCommand('request'),
  accept: takeoverCommand('accept'),
  release: takeoverCommand('release'),
  uninstall: takeoverCommand('uninstall'),
};

export async function runAgentProgram(io: Io, args: readonly string[]): Promise<ExitCode> {
  try {
    return await runCommand(io, args);
  } catch (error) {
    const { text, exitCode } = describeError(error);
    io.err(`${printableText(text)}\n`);
    return io.signal.aborted ? EXIT.interrupted : exitCode;
  }
}

async function runCommand(io: Io, args: readonly string[]): Promise<ExitCode> {
  // `kubenode-agent agent run` is accepted, too: the same line works with both programs.
  const [name = '--help', ...rest] = args[0] === 'agent' ? args.slice(1) : args;
  if (['--help', '-h', 'help'].includes(name)) return print(io, formatProgramHelp());
  if (['--version', '-V', 'version'].includes(name)) return print(io, `${VERSION}\n`);
  const command = Object.entries(COMMANDS).find(([each]) => each === name)?.[1];
  if (!command) {
    const hint = `use one of: ${Object.keys(COMMANDS).join(', ')}`;
    throw new CliError(`unknown command ${JSON.stringify(name)}`, { hint, exitCode: EXIT.usage });
  }
  const { help, flags, argument } = parseCommandArguments(command, rest);
  return help ? print(io, formatCommandHelp(name, command)) : await command.run(io, flags, argument);
}

function print(io: Io, text: string): ExitCode {
  io.out(text);
  return EXIT.ok;
}

async function runAgentCommand(io: Io, flags: Flags): Promise<ExitCode> {
  const bootstrap = flags.find('bootstrap');
  await startAgent(io, {
    host: flags.get('host'),
    ...optional('directory', flags.find('directory')),
    machine: flags.get('machine'),
    port: Number(flags.get('port')),
    access: { own: bootstrap === undefined ? {} : { bootstrapFile: resolve(bootstrap) } },
    version: VERSION,
    healthySeconds: Number(flags.get('healthy-within')),
  });
  return EXIT.ok;
}

async function runWatchdogCommand(io: Io, flags: Flags): Promise<ExitCode> {
  await startWatchdog(io, { host: flags.get('host'), ...optional('directory', flags.find('directory')) });
  return EXIT.ok;
}

type Answer = (argument: string, directory: string | undefined, now: Date) => Promise<AgentAnswer>;

function readCommand(name: 'status' | 'components' | 'why', answer: Answer): ProgramCommand {
  const definition = AGENT_COMMANDS[name];
  return {
    ...definition,
    options: [...definition.options, OUTPUT],
    async run(io, flags, argument) {
      const { data, text, exitCode } = await answer(argument, flags.find('directory'), io.clock.now());
      io.out(flags.get('output') === 'json' ? formatJson(data) : text);
      return exitCode;
    },
  };
}

function takeoverCommand(name: TakeoverCommandName): ProgramCommand {
  return {
    ...TAKEOVER_COMMANDS[name],
    run: (io, flags) =>
      runTakeover(io, name, {
        find: (option) => flags.find(option),
        program: ownAgentProgram(VERSION),
        readInput: readStandardInput,
      }),
  };
}

async function printUnit(io: Io, flags: Flags): Promise<ExitCode> {
  const text = formatAgentUnit({
    machine: flags.get('machine'),
    ...optional('node', runtimeOf(flags.get('node'))),
    program: flags.get('program'),
    port: Number(flags.get('port')),
    ...optional('bootstrap', flags.find('bootstrap')),
  });
  return print(io, text);
}

function formatProgramHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { description }]) => [name, description] as const);
  return `Usage: kubenode-agent COMMAND [options]

The agent of one machine. Every command has its own --help.

Commands:
${formatColumns([...commands, ['version', 'print the version']])}`;
}

function formatCommandHelp(name: string, command: AgentCommandDefinition): string {
  const { description, argument, options, help = '' } = command;
  const rows = options.map((option) => [formatOptionName(option), describe(option)] as const);
  const usage = ['kubenode-agent', name, '[options]', ...(argument ? [`<${argument.name}>`] : [])];
  const text = `Usage: ${usage.join(' ')}\n\n${description}\n\nOptions:\n${formatColumns(rows)}`;
  return `${text}${help === '' ? '' : `${help}\n`}`;
}

function describe({ description, choices, required, default: value }: AgentOption): string {
  const notes = [
    ...(required ? ['required'] : []),
    ...(choices ? [choices.join(' or ')] : []),
    ...(value === undefined ? [] : [`default: ${value}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}

function formatColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}   ${second}\n`).join('');
}
