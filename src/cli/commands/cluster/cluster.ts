import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createClusterConnectCommand } from './connect.ts';

export function createClusterCommand(io: Io): Command {
  return new Command('cluster')
    .description('let the hub sync a cluster')
    .addCommand(createClusterConnectCommand(io));
}
