/** `kubenode rollback`: returns a cluster to a content that it ran before, also while git does not answer. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster, ClusterRollback, KeptRevision } from '../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import { activeRollback, endRollbackCommand } from '../../../api/status/rollbacks.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import type { Client } from '../../../kube/client/client.ts';
import { shortCommit } from '../../../views/text/age.ts';
import type { Table } from '../../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { findByName, readHub } from '../../fleet/hub-objects.ts';
import { retryConflicts } from '../../fleet/person-write.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { NOTHING_KEPT, rollbackFor } from './request.ts';

interface Flags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly to?: string;
  readonly list?: true;
  readonly end?: true;
  readonly reason?: string;
}

const HELP = `
To go back, use "git revert". This command is for when git does not answer: sync keeps the last 20 contents of each
cluster, encrypted, and applies one of them. The cluster stays there, and is shown as Held, until its stage has a commit
with the same content for it, or until --end: then it follows its stage again. Deletes beyond the budget are held as for
every commit, and rules (NodeRemedier) and limits (DefenderPolicy) stay as they are. Who did it and why is in the audit
record. It needs permission to patch Clusters in the hub, which kubenode-admin has.

Examples:
  kubenode rollback prod-eu --list
  kubenode rollback prod-eu --to 4f2c9e1a77b0 --reason "ticket 42"
  kubenode rollback prod-eu --end`;

export function createRollbackCommand(io: Io): Command {
  const command = new Command('rollback')
    .description('return a cluster to a content that it ran before, also while git does not answer')
    .argument('<cluster>', 'name of the Cluster')
    .option('--to <revision>', 'commit or digest of a kept revision, or the first 7 characters or more of it')
    .option('--list', 'list the kept revisions')
    .option('--end', 'end the rollback: the cluster follows its stage again')
    .option('--reason <text>', 'why it is rolled back: shown in the status and recorded')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: Flags) => {
    const act = actOf(flags);
    const client = await connectFrom(io, flags);
    try {
      await act(io, client, { name, flags });
    } finally {
      await client.close();
    }
  });
}

interface Call {
  readonly name: string;
  readonly flags: Flags;
}

type Act = (io: Io, client: Client, call: Call) => Promise<void>;

function actOf({ to, list, end, reason }: Flags): Act {
  const acts = [to, list, end].filter((flag) => flag !== undefined);
  if (acts.length !== 1) {
    throw new CliError('expected one of --to, --list and --end', {
      hint: 'list the revisions first: kubenode rollback CLUSTER --list',
      exitCode: EXIT.usage,
    });
  }
  if (to !== undefined && reason === undefined) {
    throw new CliError('--to needs a reason', { hint: 'add --reason TEXT', exitCode: EXIT.usage });
  }
  if (list) return listRevisions;
  return end ? endRollback : rollBack;
}

async function listRevisions(io: Io, client: Client, { name, flags }: Call): Promise<void> {
  const cluster = findByName('Cluster', (await readHub(client, io.signal)).clusters, name);
  const revisions = cluster.status?.sync?.revisions ?? [];
  printResult(io, flags.output, revisions, () => revisionTable(cluster, revisions));
}

function revisionTable({ status }: Cluster, revisions: readonly KeptRevision[]): Table {
  const runs = status?.sync?.renderedDigest;
  return {
    columns: ['revision', 'kept', 'digest', 'runs'],
    rows: revisions.map(({ commit, digest, keptAt }) => [
      shortCommit(commit),
      keptAt,
      digest.slice(0, 'sha256:'.length + 12),
      digest === runs ? 'now' : '-',
    ]),
    empty: `no kept revisions: ${NOTHING_KEPT}`,
  };
}

function rollBack(io: Io, client: Client, call: Call): Promise<void> {
  return retryConflicts(() => rollBackOnce(io, client, call));
}

async function rollBackOnce(io: Io, client: Client, { name, flags }: Call): Promise<void> {
  const { clusters, pipelines } = await readHub(client, io.signal);
  const cluster = findByName('Cluster', clusters, name);
  const { pipeline } = cluster.status?.assigned ?? {};
  const rollback = rollbackFor({
    cluster,
    pipeline: pipelines.find(({ metadata }) => metadata.name === pipeline),
    to: flags.to ?? '',
    by: await readUserName(client, io.signal),
    reason: flags.reason ?? '',
    now: io.clock.now(),
  });
  await writeRollback(client, cluster, rollback);
  io.out(
    `cluster ${name} returns to revision ${shortCommit(rollback.commit)} and stays there. To follow its stage again, run: ${endRollbackCommand(name)}\n`,
  );
}

function endRollback(io: Io, client: Client, call: Call): Promise<void> {
  return retryConflicts(() => endRollbackOnce(io, client, call));
}

async function endRollbackOnce(io: Io, client: Client, { name }: Call): Promise<void> {
  const cluster = findByName('Cluster', (await readHub(client, io.signal)).clusters, name);
  const rollback = activeRollback(cluster);
  if (cluster.spec.rollback !== undefined) await writeRollback(client, cluster, null);
  io.out(
    rollback
      ? `the rollback of cluster ${name} ended: it follows its stage again\n`
      : `cluster ${name} was not rolled back: nothing changed\n`,
  );
}

/** Writes with the resourceVersion, so that nothing is written that was not judged. */
async function writeRollback(
  client: Client,
  { metadata: { name, resourceVersion } }: Cluster,
  rollback: ClusterRollback | null,
): Promise<void> {
  const body = { metadata: { resourceVersion }, spec: { rollback } };
  await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
}
