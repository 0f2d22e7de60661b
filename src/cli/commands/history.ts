import { Command } from 'commander';
import type { Pipeline, RefusedHead } from '../../api/generated/types.ts';
import { type HistoryRow, historyOf, historyRows, refusalsFor } from '../../views/release/history.ts';
import { formatAge, shortCommit } from '../../views/text/age.ts';
import type { Table } from '../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../connection.ts';
import { findByName, readHub } from '../fleet/hub-objects.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../output.ts';

const HELP = `
Prints every commit that was assigned to a cluster, newest first: from when until when, how far it came, who wrote it, and what
people decided about it. Without a cluster: those of all clusters, one row for each commit. Heads that were refused are listed as
well, although nothing of them ran. A commit with the same content as an earlier one names that: if it was proven, a "git revert"
to it skips the soak. The hub keeps the newest 32 commits of a cluster, and the newest 20 refused heads of a Pipeline.`;

export function createHistoryCommand(io: Io): Command {
  const command = new Command('history')
    .description('show the commits that ran on a cluster, or in the fleet')
    .argument('[cluster]', 'name of the Cluster; default: all')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(
    async (name: string | undefined, flags: ConnectionFlags & { output: OutputFormat }) => {
      const client = await connectFrom(io, flags);
      try {
        const { clusters, pipelines } = await readHub(client, io.signal);
        const shown = name === undefined ? clusters : [findByName('Cluster', clusters, name)];
        const histories = shown.map(historyOf);
        const refused = name === undefined ? allRefusals(pipelines) : refusalsFor(histories, pipelines);
        const data = name === undefined ? { clusters: histories, refused } : { ...histories[0], refused };
        printResult(io, flags.output, data, () =>
          historyTable(historyRows(histories, refused), { name, now: io.clock.now() }),
        );
      } finally {
        await client.close();
      }
    },
  );
}

function allRefusals(pipelines: readonly Pipeline[]): readonly RefusedHead[] {
  return pipelines.flatMap(({ status }) => status?.refused ?? []);
}

interface TableOptions {
  readonly name: string | undefined;
  readonly now: Date;
}

function historyTable(rows: readonly HistoryRow[], { name, now }: TableOptions): Table {
  const columns = ['commit', 'state', 'clusters', 'from', 'until', 'author', 'subject', 'note'];
  const cells = rows.map((row) => [
    shortCommit(row.commit),
    row.state,
    row.clusters,
    agoText(row.from, now),
    row.until === 'now' ? row.until : agoText(row.until, now),
    row.author,
    row.subject,
    row.note,
  ]);
  const isShown = (_: string, index: number): boolean => name === undefined || columns[index] !== 'clusters';
  return {
    columns: columns.filter(isShown),
    rows: cells.map((row) => row.filter(isShown)),
    empty: `nothing has been applied to ${name ?? 'any cluster'} yet: run \`kubenode status\` to see what it waits for`,
  };
}

function agoText(time: string | undefined, now: Date): string {
  return time === undefined ? '-' : `${formatAge(time, now)} ago`;
}
