/** `kubenode fleet stop` and `resume`: one switch for all clusters, which also reaches those that come back later. */
import { Command, Option } from 'commander';
import { FLEET_POLICIES } from '../../../api/generated/resources.ts';
import type { FleetPolicy } from '../../../api/generated/types.ts';
import { KILL_SWITCH, MANAGER_CLI } from '../../../api/names.ts';
import { isEngaged } from '../../../api/status/pauses.ts';
import { API_VERSION } from '../../../api/version.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { readFleetPolicies } from './policies.ts';

const STOP_HELP = `
Creates the FleetPolicy kill-switch in the hub. Sync carries it into every cluster, also into one that comes back later: nothing disruptive
begins there until it is resumed, whether the hub lives or not. Waits until every cluster that is reached has stopped. Needs only the
ClusterRole kubenode-stop. Without a running sync use kubenode defender stop, which writes to the clusters itself.

Example:
  kubenode fleet stop --reason "bad kernel image"`;

const SCOPES = ['All', 'Remedy', 'Rollout'] as const;
const WAIT_MS = 15_000;
const POLL_MS = 300;

interface StopFlags extends ConnectionFlags {
  readonly reason: string;
  readonly scope: (typeof SCOPES)[number];
}

export function createFleetStopCommand(io: Io): Command {
  const command = new Command('stop')
    .description('stop all automation in every cluster of the hub')
    .requiredOption('--reason <text>', 'why: shown to everyone whom it stops')
    .addOption(
      new Option('--scope <scope>', 'what is stopped: all of it, repairs, or rollouts')
        .choices([...SCOPES])
        .default('All'),
    )
    .addHelpText('after', STOP_HELP);
  return addConnectionOptions(command).action((flags: StopFlags) =>
    withCluster(io, flags, (client) => stopFleet(io, client, flags)),
  );
}

async function stopFleet(io: Io, client: Client, { reason, scope }: StopFlags): Promise<void> {
  const by = await readUserName(client, io.signal);
  const policy = stopPolicy({ by, reason, scope });
  try {
    await client.create(FLEET_POLICIES, policy, { fieldManager: MANAGER_CLI });
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    throw new CliError('the fleet is stopped already', {
      hint: 'see who stopped it, and why: kubenode fleet status',
      cause: error,
    });
  }
  io.out(`stopping (${scope}) every cluster\n`);
  await waitUntilStopped(io, client);
}

export function stopPolicy(killSwitch: {
  readonly by: string;
  readonly reason: string;
  readonly scope: StopFlags['scope'];
}): Pick<FleetPolicy, 'apiVersion' | 'metadata'> & { readonly kind: 'FleetPolicy'; readonly spec: object } {
  return {
    apiVersion: API_VERSION,
    kind: 'FleetPolicy',
    metadata: { name: KILL_SWITCH },
    spec: { clusterSelector: { all: true }, killSwitch: { engaged: true, ...killSwitch } },
  };
}

async function waitUntilStopped(io: Io, client: Client): Promise<void> {
  const { clock, signal } = io;
  const startMs = clock.monotonicMs();
  let message = 'no process of sync has acted on it';
  while (clock.monotonicMs() - startMs < WAIT_MS) {
    // oxlint-disable no-await-in-loop -- polls
    const found = await readStop(client, signal);
    if (found === undefined) return io.out('stopped. The role kubenode-stop may not read how far it is\n');
    message = found.message;
    if (found.isDone) return io.out(`${message}\nresume with: kubenode fleet resume\n`);
    await clock.sleep(POLL_MS, signal);
    // oxlint-enable no-await-in-loop
  }
  throw new CliError(`not every cluster has stopped yet: ${message}`, {
    hint: 'the others stop as soon as they are reached: kubenode fleet status. If sync does not run: kubenode defender stop',
    exitCode: EXIT.unavailable,
  });
}

async function readStop(
  client: Client,
  signal: AbortSignal,
): Promise<{ readonly isDone: boolean; readonly message: string } | undefined> {
  try {
    const { status } = await client.get<FleetPolicy>(FLEET_POLICIES, { name: KILL_SWITCH }, { signal });
    const condition = conditionOf(status?.conditions, 'KillSwitchEngaged');
    const message = condition?.message ?? 'no process of sync has acted on it';
    return { isDone: condition?.reason === 'AllStopped', message };
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

export function createFleetResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('resume automation in every cluster of the hub after a stop')
    .addHelpText(
      'after',
      '\nNothing that was denied is repeated: everything is evaluated again. Needs the ClusterRole kubenode-admin.',
    );
  return addConnectionOptions(command).action((flags: ConnectionFlags) =>
    withCluster(io, flags, (client) => resumeFleet(io, client)),
  );
}

async function resumeFleet(io: Io, client: Client): Promise<void> {
  const policies = await readFleetPolicies(client, io.signal);
  const stop = policies.find(({ metadata }) => metadata.name === KILL_SWITCH);
  if (stop) {
    const { uid = '' } = stop.metadata;
    await client.delete(FLEET_POLICIES, { name: KILL_SWITCH }, { uid });
    io.out('resumed: sync tells every cluster, and every machine is evaluated again\n');
  } else io.out('the fleet was not stopped: nothing changed\n');
  const others = policies.filter(
    ({ metadata, spec }) => metadata.name !== KILL_SWITCH && isEngaged(spec.killSwitch, io.clock.now()),
  );
  if (others.length === 0) return;
  throw new CliError(
    `git engages the kill switch of ${others.map(({ metadata }) => metadata.name).join(', ')}`,
    {
      hint: 'remove spec.killSwitch from these FleetPolicies in the fleet repository',
    },
  );
}
