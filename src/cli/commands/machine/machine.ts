import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createMachineHoldCommand, createMachineReleaseCommand } from './hold.ts';
import { createMachineListCommand } from './list.ts';
import { createMachinePowerCommand } from './power/power.ts';
import { createMachineReplaceCommand } from './replace.ts';
import { createMachineShowCommand } from './show.ts';
import { createMachineTokenCommand } from './token.ts';
import { createMachineUserdataCommand } from './userdata.ts';

export function createMachineCommand(io: Io): Command {
  return new Command('machine')
    .description(
      'list, show and replace machines, keep automation off one, switch its power, and let hosts join the cluster',
    )
    .addCommand(createMachineListCommand(io))
    .addCommand(createMachineShowCommand(io))
    .addCommand(createMachineHoldCommand(io))
    .addCommand(createMachineReleaseCommand(io))
    .addCommand(createMachinePowerCommand(io))
    .addCommand(createMachineReplaceCommand(io))
    .addCommand(createMachineTokenCommand(io))
    .addCommand(createMachineUserdataCommand(io));
}
