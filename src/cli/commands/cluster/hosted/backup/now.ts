/** `kubenode cluster backup now`: asks hosting for a backup of a hosted cluster, and waits until it is taken. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../../api/generated/types.ts';
import { ANNOTATION_BACKUP_REQUEST, MANAGER_CLI } from '../../../../../api/names.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { conditionOf } from '../../../../../kube/objects/conditions.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../../connection.ts';
import { CliError, EXIT } from '../../../../errors.ts';
import { readNamed, withCluster } from '../../../../fleet/read.ts';
import type { Io } from '../../../../io.ts';
import { createDurationOption } from '../../../../option-parsers.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../../output.ts';

const HELP = `
Sets the annotation kubenode.dev/backup-request of the Cluster. Hosting takes a backup for each new value of it. It needs no schedule: 7 backups
are kept, or spec.hosted.etcd.backup.keep. After one that failed, hosting waits for 5 minutes before it tries again.

Exit code 69: no backup was taken in time.

Examples:
  kubenode cluster backup now ci
  kubenode cluster backup now ci --timeout 30m -o json`;

interface NowFlags extends ConnectionFlags {
  /** In seconds. */
  readonly timeout: number;
  readonly output: OutputFormat;
}

export interface TakenBackup {
  readonly cluster: string;
  readonly name: string;
  readonly takenAt: string;
}

const POLL_MS = 500;

export function createBackupNowCommand(io: Io): Command {
  const command = new Command('now')
    .description('take a backup of a hosted cluster, and wait until it is there')
    .argument('<hosted-cluster>', 'name of the Cluster')
    .addOption(createDurationOption('--timeout <duration>', 'how long to wait', '10m'))
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: NowFlags) => {
    const taken = await withCluster(io, flags, (client) => backupNow(io, client, { name, ...flags }));
    printResult(io, flags.output, taken, () => ({
      columns: ['cluster', 'backup', 'taken'],
      rows: [[taken.cluster, taken.name, taken.takenAt]],
      empty: '',
    }));
  });
}

interface Request {
  readonly name: string;
  readonly timeout: number;
}

async function backupNow(io: Io, client: Client, { name, timeout }: Request): Promise<TakenBackup> {
  const { signal, clock } = io;
  requireHosted(await readNamed<Cluster>(client, CLUSTERS, name, signal));
  const request = clock.now().toISOString();
  const body = { metadata: { annotations: { [ANNOTATION_BACKUP_REQUEST]: request } } };
  await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI, signal });
  const endMs = clock.monotonicMs() + timeout * 1000;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one read after the other
    const cluster = await readNamed<Cluster>(client, CLUSTERS, name, signal);
    const taken = takenFor(cluster, request);
    if (taken) return taken;
    if (clock.monotonicMs() >= endMs) throw notTaken(cluster);
    // oxlint-disable-next-line no-await-in-loop -- the time between two reads
    await clock.sleep(POLL_MS, signal);
  }
}

export function requireHosted({ metadata, spec }: Cluster): void {
  if (spec.hosted) return;
  throw new CliError(`Cluster ${metadata.name} is not hosted: the hub only syncs it`, {
    hint: 'take a backup with the tools of that cluster',
    exitCode: EXIT.badInput,
  });
}

/** Returns the backup that answers the request. Undefined: it is not taken yet. */
export function takenFor({ metadata, status }: Cluster, request: string): TakenBackup | undefined {
  const { backupRequest, lastBackup, lastBackupAt } = status?.hosted?.etcd ?? {};
  if (backupRequest !== request || lastBackup === undefined || lastBackupAt === undefined) return undefined;
  return { cluster: metadata.name, name: lastBackup, takenAt: lastBackupAt };
}

/** Builds the error that names what holds it, as far as hosting has reported that. */
export function notTaken({ metadata, status }: Cluster): CliError {
  const { message } = conditionOf(status?.conditions, 'BackupReady') ?? {};
  const { waiting } = status?.hosted ?? {};
  const why = waiting?.message ?? message ?? 'no hosting has answered: start one with kubenode hosting';
  return new CliError(`no backup of Cluster ${metadata.name} was taken in time: ${why}`, {
    hint: `hosting goes on: see kubectl get clusters.kubenode.dev ${metadata.name} -o yaml`,
    exitCode: EXIT.unavailable,
  });
}
