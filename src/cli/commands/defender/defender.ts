/** `kubenode defender`: whether it is safe to act, who acts, and the kill switch. */
import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createApproveCommand, createRefuseCommand } from './approve.ts';
import { createAskCommand, createSettleCommand } from './ask.ts';
import { createCloseCommand } from './close.ts';
import { createDefenderStatusCommand } from './status.ts';
import { createDefenderResumeCommand, createDefenderStopCommand } from './stop.ts';

export function createDefenderCommand(io: Io): Command {
  return new Command('defender')
    .description('show what the Defender permits, ask for grants, and stop all automation')
    .addCommand(createDefenderStatusCommand(io))
    .addCommand(createAskCommand(io))
    .addCommand(createSettleCommand(io))
    .addCommand(createApproveCommand(io))
    .addCommand(createRefuseCommand(io))
    .addCommand(createCloseCommand(io))
    .addCommand(createDefenderStopCommand(io))
    .addCommand(createDefenderResumeCommand(io));
}
