import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createClusterConnectCommand } from './connect.ts';
import { createClusterBackupCommand } from './hosted/backup/backup.ts';
import { createClusterCreateCommand } from './hosted/create.ts';
import { createClusterDeleteCommand } from './hosted/delete.ts';
import { createClusterKubeconfigCommand } from './hosted/kubeconfig.ts';
import { createClusterListCommand } from './hosted/list.ts';

export function createClusterCommand(io: Io): Command {
  return new Command('cluster')
    .description('let the hub sync a cluster, and create hosted ones')
    .addCommand(createClusterConnectCommand(io))
    .addCommand(createClusterCreateCommand(io))
    .addCommand(createClusterListCommand(io))
    .addCommand(createClusterDeleteCommand(io))
    .addCommand(createClusterKubeconfigCommand(io))
    .addCommand(createClusterBackupCommand(io));
}
