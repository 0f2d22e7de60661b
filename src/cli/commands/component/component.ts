import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createComponentAddCommand, createComponentUpdateCommand } from './change.ts';
import { createComponentListCommand } from './list.ts';
import { createComponentOutdatedCommand } from './outdated.ts';

export function createComponentCommand(io: Io): Command {
  return new Command('component')
    .description(
      'show which version of a component runs where; add and update versions in a fleet repository',
    )
    .addCommand(createComponentListCommand(io))
    .addCommand(createComponentOutdatedCommand(io))
    .addCommand(createComponentAddCommand(io))
    .addCommand(createComponentUpdateCommand(io));
}
