/** `kubenode rollout watch`: the live view of one rollout, until it ends. */
import { Command, Option } from 'commander';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../../api/generated/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { RolloutState } from '../../../../views/rollout/outcome.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { setExitCode } from '../../../exit.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { createDisplay } from '../../../live/display.ts';
import { followLive } from '../../../live/follow.ts';
import { createRolloutFeed } from './feed.ts';
import { ROLLOUT_PRESENTATION } from './presentation.ts';

const HELP = `
Shows batches, progress, failing machines and what it waits for, as they change: it watches, and never polls. In a terminal
the view is redrawn; elsewhere each change is a line; with -o json each change is a JSON object on a line.
Ends when the rollout does. Exit codes: 0 completed; 1 stopped, rolled back, in conflict, or its set was deleted; 3 paused, or
it waits for an approval (--follow keeps watching); 130 after Ctrl-C, which changes nothing.

Examples:
  kubenode rollout watch general-nodes
  kubenode rollout watch general-nodes --follow -o json | jq .phase`;

interface WatchFlags extends ConnectionFlags {
  readonly output: 'table' | 'json';
  readonly follow?: true;
}

export function createRolloutWatchCommand(io: Io): Command {
  const command = new Command('watch')
    .description('follow a rollout live: batches, progress, failing machines and why')
    .argument('<set>', 'name of the MachineComponentSet')
    .option('--follow', 'do not end while it is paused or waits for an approval')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string, flags: WatchFlags) =>
    withCluster(io, flags, (client) => watch(io, client, name, flags)),
  );
}

const EXIT_CODES: Readonly<Record<RolloutState, ExitCode>> = {
  Running: EXIT.ok,
  Completed: EXIT.ok,
  NeedsPerson: EXIT.held,
  Failed: EXIT.failed,
};

/** A person who has just committed must not take the end of the rollout before for that of theirs. */
const COMPLETED_BEFORE =
  'note: this rollout had completed before. One of a commit that sync has not applied yet is not in it: kubenode status --watch\n';

async function watch(io: Io, client: Client, name: string, flags: WatchFlags): Promise<void> {
  // The first answer that is an error ends the command with its hint; the watches would try again for ever.
  await readNamed(client, MACHINE_COMPONENT_SETS, name, io.signal);
  await client.list(MACHINES, { limit: 1, signal: io.signal });
  const feed = createRolloutFeed({ client, set: name, clock: io.clock });
  const display = createDisplay(io, flags.output, ROLLOUT_PRESENTATION);
  try {
    let views = 0;
    const state = await followLive(io, feed, display, ({ outcome }) => {
      views += 1;
      const goesOn = outcome.state === 'NeedsPerson' && flags.follow;
      return outcome.state === 'Running' || goesOn ? undefined : outcome.state;
    });
    if (state === undefined) throw new CliError(`MachineComponentSet ${name} was deleted`);
    if (state === 'Completed' && views === 1) io.err(COMPLETED_BEFORE);
    setExitCode(io, EXIT_CODES[state]);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    setExitCode(io, EXIT.interrupted);
  }
}
