import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createMaintenanceListCommand } from './list.ts';
import { createMaintenanceShowCommand } from './show.ts';

export function createMaintenanceCommand(io: Io): Command {
  return new Command('maintenance')
    .description('list and show announced maintenance of machines')
    .addCommand(createMaintenanceListCommand(io))
    .addCommand(createMaintenanceShowCommand(io));
}
