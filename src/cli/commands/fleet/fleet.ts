/** `kubenode fleet`: limits that span clusters, and one switch for all of them. */
import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createFleetStatusCommand, createFleetWhyCommand } from './status.ts';
import { createFleetResumeCommand, createFleetStopCommand } from './stop.ts';

export function createFleetCommand(io: Io): Command {
  return new Command('fleet')
    .description('show the limits over clusters, and stop or resume all of them')
    .addCommand(createFleetStatusCommand(io))
    .addCommand(createFleetWhyCommand(io))
    .addCommand(createFleetStopCommand(io))
    .addCommand(createFleetResumeCommand(io));
}
