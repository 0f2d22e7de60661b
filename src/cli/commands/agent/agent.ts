import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createAgentRunCommand } from './run.ts';
import { createAgentComponentsCommand, createAgentStatusCommand, createAgentWhyCommand } from './status.ts';

export function createAgentCommand(io: Io): Command {
  const command = new Command('agent').description(
    'run the agent of one machine, and show what it knows without the API server',
  );
  command.addCommand(createAgentRunCommand(io));
  command.addCommand(createAgentStatusCommand(io));
  command.addCommand(createAgentComponentsCommand(io));
  command.addCommand(createAgentWhyCommand(io));
  return command;
}
