import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createRolloutApproveCommand } from './approve.ts';
import { createRolloutListCommand } from './list.ts';
import { createRolloutPauseCommand, createRolloutResumeCommand } from './pause.ts';
import { createRolloutShowCommand } from './show.ts';
import { createRolloutUndoCommand } from './undo/undo.ts';
import { createRolloutWatchCommand } from './watch/watch.ts';

export function createRolloutCommand(io: Io): Command {
  return new Command('rollout')
    .description('show and steer the rollout of component versions over the machines of a cluster')
    .addCommand(createRolloutListCommand(io))
    .addCommand(createRolloutShowCommand(io))
    .addCommand(createRolloutWatchCommand(io))
    .addCommand(createRolloutPauseCommand(io))
    .addCommand(createRolloutResumeCommand(io))
    .addCommand(createRolloutApproveCommand(io))
    .addCommand(createRolloutUndoCommand(io));
}
