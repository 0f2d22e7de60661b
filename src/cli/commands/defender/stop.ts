/** `kubenode defender stop` and `resume`: the kill switch, as a policy that sync leaves alone. */
import { Command, Option } from 'commander';
import { DEFENDER_POLICIES } from '../../../api/generated/resources.ts';
import type { DefenderPolicy } from '../../../api/generated/types.ts';
import { KILL_SWITCH, MANAGER_CLI } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/version.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../connection.ts';
import { CliError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { readUserName } from '../../principal.ts';

const STOP_HELP = `
Denies every new grant and every renewal from now on, whatever git contains: nothing disruptive begins. Steps that have begun
are finished, and settling, uncordoning and reporting continue. Needs only the ClusterRole kubenode-stop.

Examples:
  kubenode defender stop --reason "bad kernel image"
  kubenode defender stop --scope Rollout --reason "wait for the database team"`;

const SCOPES = ['All', 'Remedy', 'Rollout'] as const;
type Scope = (typeof SCOPES)[number];

interface StopFlags extends ConnectionFlags {
  readonly reason: string;
  readonly scope: Scope;
}

export function createDefenderStopCommand(io: Io): Command {
  const command = new Command('stop')
    .description('stop all automation: no grants and no renewals')
    .requiredOption('--reason <text>', 'why: shown to everyone whom it stops')
    .addOption(
      new Option('--scope <scope>', 'what is stopped: all of it, repairs, or rollouts')
        .choices([...SCOPES])
        .default('All'),
    )
    .addHelpText('after', STOP_HELP);
  return addConnectionOptions(command).action((flags: StopFlags) =>
    withClient(io, flags, (client) => stop(io, client, flags)),
  );
}

async function stop(io: Io, client: Client, { reason, scope }: StopFlags): Promise<void> {
  const by = await readUserName(client, io.signal);
  try {
    // A create, which is all that the role kubenode-stop permits.
    await client.create(DEFENDER_POLICIES, killSwitchPolicy({ by, reason, scope }), {
      fieldManager: MANAGER_CLI,
    });
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    throw new CliError(stoppedAlready(await presentScope(io, client), scope), {
      hint: 'see who stopped it, and why: kubenode defender status. To stop more, an administrator resumes first',
      cause: error,
    });
  }
  io.out(
    `stopped (${scope}): nothing is granted until it is resumed. Resume with: kubenode defender resume\n`,
  );
}

/** The role for stopping may not read policies. */
async function presentScope(io: Io, client: Client): Promise<Scope | undefined> {
  try {
    const found = await client.get<DefenderPolicy>(
      DEFENDER_POLICIES,
      { name: KILL_SWITCH },
      { signal: io.signal },
    );
    return found.spec.killSwitch.scope;
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound')) return undefined;
    throw error;
  }
}

export function stoppedAlready(present: Scope | undefined, asked: Scope): string {
  if (present === undefined) return 'automation is stopped already, all of it or a part';
  if (present === 'All' || present === asked) return 'automation is stopped already';
  return present === 'Rollout'
    ? 'only rollouts are stopped, and repairs continue'
    : 'only repairs are stopped, and rollouts continue';
}

export interface KillSwitchFields {
  readonly by: string;
  readonly reason: string;
  readonly scope: Scope;
}

/** Without a limit of its own: it selects everything, and only stops. */
export function killSwitchPolicy({
  by,
  reason,
  scope,
}: KillSwitchFields): Pick<DefenderPolicy, 'apiVersion' | 'kind' | 'metadata'> & { readonly spec: object } {
  return {
    apiVersion: API_VERSION,
    kind: DEFENDER_POLICIES.kind as 'DefenderPolicy',
    metadata: { name: KILL_SWITCH },
    spec: {
      // In this mode it denies by its kill switch only, and adds no default limit.
      mode: 'Audit',
      scope: { nodeSelector: { all: true } },
      killSwitch: { engaged: true, scope, by, reason },
    },
  };
}

export function createDefenderResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('resume automation after a stop')
    .addHelpText(
      'after',
      '\nNothing that was denied is repeated: everything is evaluated again. Needs the ClusterRole kubenode-admin.',
    );
  return addConnectionOptions(command).action((flags: ConnectionFlags) =>
    withClient(io, flags, (client) => resume(io, client)),
  );
}

async function resume(io: Io, client: Client): Promise<void> {
  const { items } = await client.list<DefenderPolicy>(DEFENDER_POLICIES, { signal: io.signal });
  const stopped = items.find(({ metadata }) => metadata.name === KILL_SWITCH);
  if (stopped) {
    const { uid = '' } = stopped.metadata;
    await client.delete(DEFENDER_POLICIES, { name: KILL_SWITCH }, { uid });
  }
  const others = stillStopping(items, io.clock.now());
  if (others.length > 0) {
    throw new CliError(`automation is still stopped: git engages the kill switch of ${others.join(', ')}`, {
      hint: 'remove spec.killSwitch from these policies in the fleet repository',
    });
  }
  io.out(
    stopped ? 'resumed: every machine is evaluated again\n' : 'automation was not stopped: nothing changed\n',
  );
}

/** Names of the policies of git whose kill switch has not ended. */
export function stillStopping(policies: readonly DefenderPolicy[], now: Date): readonly string[] {
  return policies.flatMap(({ metadata: { name }, spec: { killSwitch } }) => {
    const { engaged, until } = killSwitch;
    const hasEnded = until !== undefined && Date.parse(until) <= +now;
    return name === KILL_SWITCH || !engaged || hasEnded ? [] : [name];
  });
}

async function withClient(
  io: Io,
  flags: ConnectionFlags,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = await connectFrom(io, flags);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
