/** `kubenode rollout watch`: the live view of one rollout, until it ends. */
import { Command, Option } from 'commander';
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../../api/generated/resources.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { CliError, EXIT, type ExitCode } from '../../../errors.ts';
import { setExitCode } from '../../../exit.ts';
import { readNamed, withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import type { RolloutState } from '../view/outcome.ts';
import { createDisplay, type Display } from './display.ts';
import { createRolloutFeed, type RolloutFeed } from './feed.ts';

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

async function watch(io: Io, client: Client, name: string, flags: WatchFlags): Promise<void> {
  // The first answer that is an error ends the command with its hint; the watches would try again for ever.
  await readNamed(client, MACHINE_COMPONENT_SETS, name, io.signal);
  await client.list(MACHINES, { limit: 1, signal: io.signal });
  const feed = createRolloutFeed({ client, set: name, clock: io.clock });
  const stop = new AbortController();
  const running = feed.run(stop.signal);
  try {
    await feed.ready(io.signal);
    const state = await follow(io, feed, createDisplay(io, flags.output), flags.follow ?? false);
    if (state === undefined) throw new CliError(`MachineComponentSet ${name} was deleted`);
    setExitCode(io, EXIT_CODES[state]);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    setExitCode(io, EXIT.interrupted);
  } finally {
    stop.abort();
    await running;
  }
}

/** Changes that come together are shown together. */
const SETTLE_MS = 150;

/** Resolves with the state in which it ended; undefined: its set was deleted. Rejects when it is interrupted. */
async function follow(
  { clock, signal }: Io,
  feed: RolloutFeed,
  display: Display,
  keepsWaiting: boolean,
): Promise<RolloutState | undefined> {
  let change = new AbortController();
  feed.subscribe(() => change.abort());
  for (;;) {
    signal.throwIfAborted();
    change = new AbortController();
    const view = feed.current();
    if (!view) return undefined;
    display.show(view, feed.staleReason());
    const { state } = view.outcome;
    if (state !== 'Running' && !(keepsWaiting && state === 'NeedsPerson')) return state;
    const ended = AbortSignal.any([signal, change.signal]);
    await clock.sleep(display.redrawMs ?? NEVER_MS, ended).catch(() => signal.throwIfAborted());
    await clock.sleep(SETTLE_MS, signal);
  }
}

/** A day: a view without ages is written only when something changed, and a timer needs an end. */
const NEVER_MS = 86_400_000;
