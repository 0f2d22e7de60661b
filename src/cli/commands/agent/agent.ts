import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createAgentComponentsCommand, createAgentStatusCommand, createAgentWhyCommand } from './read.ts';
import { createAgentRunCommand } from './run.ts';
import { createAgentSimulateCommand } from './simulate.ts';
import { createTakeoverCommands } from './takeover/commands.ts';
import { createAgentUnitCommand } from './unit.ts';
import { createAgentWatchdogCommand } from './watchdog.ts';

export function createAgentCommand(io: Io): Command {
  const command = new Command('agent').description(
    'run the agent of one machine, and show what it knows without the API server',
  );
  command.addCommand(createAgentRunCommand(io));
  command.addCommand(createAgentStatusCommand(io));
  command.addCommand(createAgentComponentsCommand(io));
  command.addCommand(createAgentWhyCommand(io));
  command.addCommand(createAgentUnitCommand(io));
  command.addCommand(createAgentWatchdogCommand(io));
  command.addCommand(createAgentSimulateCommand(io));
  for (const each of createTakeoverCommands(io)) command.addCommand(each);
  return command;
}
