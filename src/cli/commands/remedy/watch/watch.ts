/** `kubenode remedy watch`: the live view of one repair job until it ends, or of all jobs. */
import { Command, Option } from 'commander';
import { REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { JobState } from '../../../../views/repair/job.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { setExitCode } from '../../../exit.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDisplay } from '../../../live/display.ts';
import { followLive } from '../../../live/follow.ts';
import { createJobFeed, createJobsFeed } from './feed.ts';
import { JOB_PRESENTATION, JOBS_PRESENTATION } from './presentation.ts';

const HELP = `
Shows the timeline, the steps and what a job waits for, as they change: it watches, and never polls. In a terminal the view is
redrawn; elsewhere each change is a line; with -o json each change is a JSON object on a line. Without a job all jobs are
followed, also those that begin later, until Ctrl-C.
With a job it ends when the job does. Exit codes: 0 succeeded; 1 failed, handed to a person, cancelled, superseded or deleted; 3 it
waits for an approval (--follow keeps watching); 130 after Ctrl-C, which changes nothing.

Examples:
  kubenode remedy watch
  kubenode remedy watch --machine node-a17
  kubenode remedy watch node-a17-kernel-hang-7c1f02ab-r1-a1 -o json | jq .phase`;

interface WatchFlags extends ConnectionFlags {
  readonly output: 'table' | 'json';
  readonly machine?: string;
  readonly follow?: true;
}

export function createRemedyWatchCommand(io: Io): Command {
  const command = new Command('watch')
    .description('follow repairs live: timeline, steps, and what they wait for')
    .argument('[job]', 'name of the RemedyOperationJob; default: all jobs')
    .option('--machine <name>', 'of all jobs, only those of this Machine')
    .option('--follow', 'do not end while the job waits for an approval')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string | undefined, flags: WatchFlags) =>
    withCluster(io, flags, (client) => watch(io, client, name, flags)),
  );
}

const EXIT_CODES: Readonly<Record<JobState, ExitCode>> = {
  Running: EXIT.ok,
  Succeeded: EXIT.ok,
  NeedsPerson: EXIT.held,
  Ended: EXIT.failed,
  Failed: EXIT.failed,
};

async function watch(io: Io, client: Client, name: string | undefined, flags: WatchFlags): Promise<void> {
  try {
    const state = await (name === undefined
      ? followAll(io, client, flags)
      : followOne(io, client, name, flags));
    setExitCode(io, EXIT_CODES[state]);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    setExitCode(io, EXIT.interrupted);
  }
}

async function followOne(io: Io, client: Client, name: string, flags: WatchFlags): Promise<JobState> {
  // The first answer that is an error ends the command with its hint; the watch would try again for ever.
  await readNamed(client, REMEDY_OPERATION_JOBS, name, io.signal);
  const feed = createJobFeed({ client, job: name, clock: io.clock });
  const display = createDisplay(io, flags.output, JOB_PRESENTATION);
  const state = await followLive(io, feed, display, (view) => {
    const goesOn = view.state === 'Running' || (view.state === 'NeedsPerson' && flags.follow);
    return goesOn ? undefined : view.state;
  });
  if (state === undefined) throw new CliError(`RemedyOperationJob ${name} was deleted`);
  return state;
}

async function followAll(io: Io, client: Client, flags: WatchFlags): Promise<JobState> {
  await client.list(REMEDY_OPERATION_JOBS, { limit: 1, signal: io.signal });
  const feed = createJobsFeed(
    { client, clock: io.clock },
    ({ machine }) => (flags.machine ?? machine) === machine,
  );
  const display = createDisplay(io, flags.output, JOBS_PRESENTATION);
  await followLive(io, feed, display, () => undefined);
  return 'Running';
}
