import { Command } from 'commander';
import type { Io } from '../../../../io.ts';
import { createBackupListCommand } from './list.ts';
import { createBackupNowCommand } from './now.ts';

export function createClusterBackupCommand(io: Io): Command {
  return new Command('backup')
    .description('list the backups of a hosted cluster, and take one')
    .addCommand(createBackupListCommand(io))
    .addCommand(createBackupNowCommand(io));
}
