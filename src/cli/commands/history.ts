import { Command } from 'commander';
import type { Cluster, Release } from '../../api/generated/types.ts';
import { listAt, valueAt } from '../../kube/objects/json.ts';
import { formatAge, shortCommit } from '../age.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../connection.ts';
import { textField } from '../fields.ts';
import { findByName, readHub } from '../hub-objects.ts';
import type { Io } from '../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../output.ts';

const HELP = `
Prints the commit that a cluster runs now, then the commits proven on it before, newest first. A commit that renders to
proven content skips the soak, so a "git revert" to any of these takes effect at once.`;

export function createHistoryCommand(io: Io): Command {
  const command = new Command('history')
    .description('show the commits that ran on a cluster')
    .argument('<cluster>', 'name of the Cluster')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(
    async (name: string, flags: ConnectionFlags & { output: OutputFormat }) => {
      const client = await connectFrom(io, flags);
      try {
        const { clusters, releases } = await readHub(client, io.signal);
        const entries = listClusterHistory(findByName('Cluster', clusters, name), releases);
        printResult(io, flags.output, { cluster: name, history: entries }, () => ({
          columns: ['commit', 'state', 'age', 'author', 'subject'],
          rows: entries.map(({ commit, state, at, author, subject }) => [
            shortCommit(commit),
            state,
            formatAge(at, io.clock.now()),
            author,
            subject,
          ]),
          empty: `nothing has been applied to ${name} yet: run \`kubenode status\` to see what it waits for`,
        }));
      } finally {
        await client.close();
      }
    },
  );
}

export interface ClusterHistoryEntry {
  readonly commit: string;
  readonly state: string;
  readonly at: string;
  readonly digest: string;
  readonly author: string;
  readonly subject: string;
}

/** Pure. The current commit first; each proven commit once. */
export function listClusterHistory(cluster: Cluster, releases: readonly Release[]): ClusterHistoryEntry[] {
  const sync = valueAt(cluster, 'status', 'sync');
  const current = createEntry(
    sync,
    { state: textField(sync, 'state', 'Unknown'), digest: 'renderedDigest', at: 'since' },
    releases,
  );
  const proven = listAt(sync, 'proven').map((entry) =>
    createEntry(entry, { state: 'Proven', digest: 'digest', at: 'provenAt' }, releases),
  );
  return [current, ...proven.filter(({ commit }) => commit !== current.commit)].filter(
    ({ commit }) => commit !== '',
  );
}

interface EntryFields {
  readonly state: string;
  readonly digest: string;
  readonly at: string;
}

function createEntry(
  entry: unknown,
  { state, digest, at }: EntryFields,
  releases: readonly Release[],
): ClusterHistoryEntry {
  const commit = textField(entry, 'commit');
  const release = releases.find(({ spec }) => spec.commit === commit);
  return {
    commit,
    state,
    at: textField(entry, at),
    digest: textField(entry, digest),
    author: textField(release, 'spec.author', '-'),
    subject: textField(release, 'spec.subject', '-'),
  };
}
