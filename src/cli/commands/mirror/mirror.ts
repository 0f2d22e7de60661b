import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createMirrorSyncCommand } from './sync.ts';

export function createMirrorCommand(io: Io): Command {
  return new Command('mirror')
    .description('copy what a fleet downloads, for networks without access to its sources')
    .addCommand(createMirrorSyncCommand(io));
}
