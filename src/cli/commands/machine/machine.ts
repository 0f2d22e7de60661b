import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createMachineHoldCommand, createMachineReleaseCommand } from './hold.ts';
import { createMachineListCommand } from './list.ts';
import { createMachineReplaceCommand } from './replace.ts';
import { createMachineShowCommand } from './show.ts';
import { createMachineTokenCommand } from './token.ts';
import { createMachineUserdataCommand } from './userdata.ts';

export function createMachineCommand(io: Io): Command {
  return new Command('machine')
    .description('list, show and replace machines, keep automation off one, and let hosts join the cluster')
    .addCommand(createMachineListCommand(io))
    .addCommand(createMachineShowCommand(io))
    .addCommand(createMachineHoldCommand(io))
    .addCommand(createMachineReleaseCommand(io))
    .addCommand(createMachineReplaceCommand(io))
    .addCommand(createMachineTokenCommand(io))
    .addCommand(createMachineUserdataCommand(io));
}
