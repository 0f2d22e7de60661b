/** `kubenode defender stop` and `resume`: the kill switch, as a policy that sync leaves alone. */
import { Command, Option } from 'commander';
import { DEFENDER_POLICIES } from '../../../api/generated/resources.ts';
import type { DefenderPolicy } from '../../../api/generated/types.ts';
import { KILL_SWITCH, MANAGER_CLI } from '../../../api/names.ts';
import { isEngaged } from '../../../api/status/pauses.ts';
import { API_VERSION } from '../../../api/version.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError } from '../../errors.ts';
import { withCluster } from '../../fleet/read.ts';
import { readFleet } from '../../fleet/read-fleet.ts';
import type { Io } from '../../io.ts';

const STOP_HELP = `
Denies every new grant and every renewal from now on, whatever git contains: nothing disruptive begins. Steps that have begun
are finished, and settling, uncordoning and reporting continue. Needs only the ClusterRole kubenode-stop. On a hub all clusters of its fleet are
stopped; one that cannot be reached is named, and the exit code is 69 then. With --context it is that cluster alone.

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
  return addConnectionOptions(command).action((flags: StopFlags) => stop(io, flags));
}

async function stop(io: Io, flags: StopFlags): Promise<void> {
  const { scope } = flags;
  // Clusters that the hub reaches with the credentials of sync get the name of the person, too.
  const by = await withCluster(io, flags, (client) => readUserName(client, io.signal));
  const asked = { by, reason: flags.reason, scope };
  const { parts } = await readFleet(io, flags, (client) => stopCluster(io, client, asked), 'is NOT stopped');
  const stopped = parts.filter(({ found }) => found.because === undefined);
  if (stopped.length > 0) {
    const where = stopped.map(({ cluster, found }) => cluster ?? found.server).join(', ');
    io.out(
      `stopped (${scope}) in ${where}: nothing is granted until it is resumed. Resume with: kubenode defender resume${contextOption(flags)}\n`,
    );
  }
  const already = parts.filter(({ found }) => found.because !== undefined);
  if (already.length === 0) return;
  throw new CliError(already.map(({ cluster, found }) => prefixed(cluster, found.because ?? '')).join('; '), {
    hint: `see who stopped it, and why: kubenode defender status${contextOption(flags, already[0]?.cluster)}. To stop more, an administrator resumes first`,
  });
}

interface Stopped {
  readonly server: string;
  /** Why nothing was changed. */
  readonly because?: string;
}

async function stopCluster(
  io: Io,
  client: Client,
  { by, reason, scope }: KillSwitchFields,
): Promise<Stopped> {
  const { server } = client;
  try {
    // A create, which is all that the role kubenode-stop permits.
    await client.create(DEFENDER_POLICIES, killSwitchPolicy({ by, reason, scope }), {
      fieldManager: MANAGER_CLI,
    });
    return { server };
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    return { server, because: stoppedAlready(await presentScope(io, client), scope) };
  }
}

function prefixed(cluster: string | undefined, text: string): string {
  return cluster === undefined ? text : `${cluster}: ${text}`;
}

/** That of the person, or of a cluster of the hub. */
function contextOption({ context }: ConnectionFlags, cluster?: string): string {
  const name = cluster ?? context;
  return name === undefined ? '' : ` --context ${name}`;
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
      '\nNothing that was denied is repeated: everything is evaluated again. Needs the ClusterRole kubenode-admin. On a hub all clusters\nof its fleet are resumed, with --context one of them.',
    );
  return addConnectionOptions(command).action((flags: ConnectionFlags) => resume(io, flags));
}

async function resume(io: Io, flags: ConnectionFlags): Promise<void> {
  const fleet = await readFleet(io, flags, (client) => resumeCluster(io, client), 'is NOT resumed');
  const resumed = fleet.parts.filter(({ found }) => found.resumed);
  if (resumed.length > 0) {
    const where = resumed.flatMap(({ cluster }) => cluster ?? []).join(', ');
    io.out(`resumed${where === '' ? '' : ` in ${where}`}: every machine is evaluated again\n`);
  }
  const kept = fleet.parts.filter(({ found }) => found.others.length > 0);
  if (kept.length > 0) {
    const named = kept.map(({ cluster, found }) => prefixed(cluster, found.others.join(', ')));
    throw new CliError(`automation is still stopped: git engages the kill switch of ${named.join('; ')}`, {
      hint: 'remove spec.killSwitch from these policies in the fleet repository',
    });
  }
  const isUnchanged = fleet.parts.length > 0 && resumed.length === 0;
  if (isUnchanged) io.out('automation was not stopped: nothing changed\n');
}

interface Resumed {
  readonly resumed: boolean;
  /** Policies of git whose kill switch is engaged. */
  readonly others: readonly string[];
}

async function resumeCluster(io: Io, client: Client): Promise<Resumed> {
  const { items } = await client.list<DefenderPolicy>(DEFENDER_POLICIES, { signal: io.signal });
  const stopped = items.find(({ metadata }) => metadata.name === KILL_SWITCH);
  if (stopped) {
    const { uid = '' } = stopped.metadata;
    await client.delete(DEFENDER_POLICIES, { name: KILL_SWITCH }, { uid });
  }
  return { resumed: stopped !== undefined, others: stillStopping(items, io.clock.now()) };
}

/** Names of the policies of git whose kill switch has not ended. */
export function stillStopping(policies: readonly DefenderPolicy[], now: Date): readonly string[] {
  return policies.flatMap(({ metadata: { name }, spec: { killSwitch } }) => {
    return name === KILL_SWITCH || !isEngaged(killSwitch, now) ? [] : [name];
  });
}
