/** `kubenode freeze`: what a commit has to contain so that no stage of the fleet takes a commit for a while. */
import { Command } from 'commander';
import { printableLine } from '../../../kube/objects/printable.ts';
import { commitEntries } from '../../commit/commit-entries.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { readHub, selectPipeline } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { parseTimeOption } from '../../option-parsers.ts';
import { planFreeze } from './plan.ts';

const HELP = `
During a freeze no cluster starts on another commit. Clusters under way finish, drift is corrected, and repairs go on. A revert waits, too,
unless revertPasses.freezes of the stage lets it pass. The commit that ends a freeze early is held by it; the next one is not.
Component sets and hosted control planes have freezes of their own, in their spec: this one does not stop their rollouts.

This command prints the entry for spec.freezes of the Pipeline in the fleet repository. With --commit it adds the entry to the repository
and commits that, with your git and your name, and never pushes. Times have a zone: 2030-12-20T18:00Z or 2030-12-20T18:00+01:00.

Examples:
  kubenode freeze --from 2030-12-20T18:00Z --until 2031-01-03T06:00Z --reason "end of year"
  kubenode freeze --until 2030-06-01T12:00Z --reason "audit" --commit --repo ../my-fleet`;

interface Flags extends ConnectionFlags {
  readonly from?: Date;
  readonly until: Date;
  readonly reason: string;
  readonly name?: string;
  readonly pipeline?: string;
  readonly commit?: true;
  readonly repo: string;
}

export function createFreezeCommand(io: Io): Command {
  const command = new Command('freeze')
    .description('print the spec.freezes entry that stops all promotion for a while, or commit it')
    .option('--from <time>', 'when it begins (default: now)', parseTimeOption)
    .requiredOption('--until <time>', 'when it ends', parseTimeOption)
    .requiredOption('--reason <text>', 'why nothing may change: recorded in git, and shown by status')
    .option('--name <name>', 'name of the freeze (default: freeze- and the day on which it begins)')
    .option('--pipeline <name>', 'name of the Pipeline: needed if the hub has several')
    .option('--commit', 'add it to the fleet repository, and commit that')
    .option('--repo <dir>', 'folder of the fleet repository, for --commit', '.')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: Flags) => freeze(io, flags));
}

async function freeze(io: Io, flags: Flags): Promise<void> {
  const client = await connectFrom(io, flags);
  try {
    const { pipelines } = await readHub(client, io.signal);
    const pipeline = selectPipeline(pipelines, flags.pipeline);
    const now = io.clock.now();
    const entry = planFreeze(pipeline, { ...flags, from: flags.from ?? now }, now);
    if (!flags.commit) {
      io.err(`Add this to spec.freezes of Pipeline ${pipeline.metadata.name} and commit it:\n`);
      io.out(`freezes: [\n  ${JSON.stringify(entry)},\n],\n`);
      return;
    }
    const { name, from, until, reason } = entry;
    await commitEntries(io, flags.repo, {
      pipeline,
      list: 'freezes',
      entries: [{ name, from, until, reason }],
      subject: `Freeze the fleet from ${from} until ${until}`,
      reason: printableLine(reason),
    });
  } finally {
    await client.close();
  }
}
