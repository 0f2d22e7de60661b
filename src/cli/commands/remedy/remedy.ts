import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createRemedyCancelCommand } from './cancel.ts';
import { createRemedyListCommand } from './list.ts';
import { createRemedyShowCommand } from './show.ts';
import { createRemedyWatchCommand } from './watch/watch.ts';

export function createRemedyCommand(io: Io): Command {
  return new Command('remedy')
    .description('list, show and follow the repairs of machines, and cancel one')
    .addCommand(createRemedyListCommand(io))
    .addCommand(createRemedyShowCommand(io))
    .addCommand(createRemedyWatchCommand(io))
    .addCommand(createRemedyCancelCommand(io));
}
