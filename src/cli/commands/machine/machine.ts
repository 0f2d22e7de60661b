import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createMachineTokenCommand } from './token.ts';

export function createMachineCommand(io: Io): Command {
  const command = new Command('machine').description('let machines join the cluster');
  command.addCommand(createMachineTokenCommand(io));
  return command;
}
