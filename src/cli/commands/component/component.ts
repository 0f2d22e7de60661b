import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createComponentListCommand } from './list.ts';

export function createComponentCommand(io: Io): Command {
  return new Command('component')
    .description('show the components of machines: which version runs where')
    .addCommand(createComponentListCommand(io));
}
