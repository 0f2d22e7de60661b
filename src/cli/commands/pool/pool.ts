import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createPoolFreeCommand } from './free.ts';
import { createPoolListCommand } from './list.ts';

export function createPoolCommand(io: Io): Command {
  return new Command('pool')
    .description('list the hosts of pools and who has them, and free one that was cleaned by hand')
    .addCommand(createPoolListCommand(io))
    .addCommand(createPoolFreeCommand(io));
}
