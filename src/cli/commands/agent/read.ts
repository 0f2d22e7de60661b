import type { Command } from 'commander';
import { formatJson } from '../../../views/text/json.ts';
import { formatYaml } from '../../../views/text/yaml.ts';
import { setExitCode } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat } from '../../output.ts';
import { type AgentAnswer, answerComponents, answerStatus, answerWhy } from './answers.ts';
import { createDefinedCommand } from './options.ts';

interface ReadFlags {
  readonly directory?: string;
  readonly output: OutputFormat;
}

export function createAgentStatusCommand(io: Io): Command {
  return createReadCommand('status').action(async ({ directory, output }: ReadFlags) =>
    print(io, output, await answerStatus(directory, io.clock.now())),
  );
}

export function createAgentComponentsCommand(io: Io): Command {
  return createReadCommand('components').action(async ({ directory, output }: ReadFlags) =>
    print(io, output, await answerComponents(directory, io.clock.now())),
  );
}

export function createAgentWhyCommand(io: Io): Command {
  return createReadCommand('why').action(async (name: string, { directory, output }: ReadFlags) =>
    print(io, output, await answerWhy(name, directory, io.clock.now())),
  );
}

function createReadCommand(name: 'status' | 'components' | 'why'): Command {
  return createDefinedCommand(name).addOption(createOutputOption());
}

const FORMATS: Readonly<Record<OutputFormat, (answer: AgentAnswer) => string>> = {
  table: ({ text }) => text,
  json: ({ data }) => formatJson(data),
  yaml: ({ data }) => formatYaml(data),
};

function print(io: Io, output: OutputFormat, answer: AgentAnswer): void {
  io.out(FORMATS[output](answer));
  setExitCode(io, answer.exitCode);
}
