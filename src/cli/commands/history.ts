import { Command } from 'commander';
import type { Cluster, Release } from '../../api/generated/types.ts';
import { listAt, valueAt } from '../../kube/objects/json.ts';
import { ageOf, shortCommit } from '../age.ts';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../connection.ts';
import { said } from '../fields.ts';
import { pick, readHub } from '../hub-objects.ts';
import type { Io } from '../io.ts';
import { type Format, outputOption, print } from '../output.ts';

const HELP = `
What a cluster runs now, and what was proven on it before, newest first. A commit that renders to what was proven before
skips the soak, so this is also the list of what a "git revert" returns to at once.`;

export function historyCommand(io: Io): Command {
  const command = new Command('history')
    .description('show which commits ran on a cluster')
    .argument('<cluster>', 'name of the Cluster')
    .addOption(outputOption())
    .addHelpText('after', HELP);
  return connectionOptions(command).action(
    async (name: string, flags: ConnectionFlags & { output: Format }) => {
      const client = await connectFrom(io, flags);
      try {
        const { clusters, releases } = await readHub(client, io.signal);
        const lines = historyOf(pick(clusters, name), releases);
        print(io, flags.output, { cluster: name, history: lines }, () => ({
          columns: ['commit', 'state', 'age', 'author', 'subject'],
          rows: lines.map(({ commit, state, at, author, subject }) => [
            shortCommit(commit),
            state,
            ageOf(at, io.clock.now()),
            author,
            subject,
          ]),
          empty: `nothing was applied to ${name} yet`,
        }));
      } finally {
        await client.close();
      }
    },
  );
}

export interface HistoryLine {
  readonly commit: string;
  readonly state: string;
  readonly at: string;
  readonly digest: string;
  readonly author: string;
  readonly subject: string;
}

/** Pure. The present first; what is proven stands once, with its newest commit. */
export function historyOf(cluster: Cluster, releases: readonly Release[]): HistoryLine[] {
  const sync = valueAt(cluster, 'status', 'sync');
  const present = lineFor(
    sync,
    { state: said(sync, 'state', 'Unknown'), digest: 'renderedDigest', at: 'since' },
    releases,
  );
  const proven = listAt(sync, 'proven').map((entry) =>
    lineFor(entry, { state: 'Proven', digest: 'digest', at: 'provenAt' }, releases),
  );
  return [present, ...proven.filter(({ commit }) => commit !== present.commit)].filter(
    ({ commit }) => commit !== '',
  );
}

interface Fields {
  readonly state: string;
  readonly digest: string;
  readonly at: string;
}

function lineFor(entry: unknown, { state, digest, at }: Fields, releases: readonly Release[]): HistoryLine {
  const commit = said(entry, 'commit');
  const release = releases.find(({ spec }) => spec.commit === commit);
  return {
    commit,
    state,
    at: said(entry, at),
    digest: said(entry, digest),
    author: said(release, 'spec.author', '-'),
    subject: said(release, 'spec.subject', '-'),
  };
}
