/**
 * `kubenode release halt` and `resume`: a stop by the user. It is in fields that git must not set, so that no commit and no
 * sync lifts it.
 */
import { Command } from 'commander';
import { CLUSTERS, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster, ClusterPause, Pipeline } from '../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import { readUserName } from '../../../kube/auth/self-review.ts';
import type { Client } from '../../../kube/client/client.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import { isSetByGit } from '../../../views/fleet/git-owned.ts';
import { addConnectionOptions } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { retryConflicts } from '../../fleet/person-write.ts';
import type { Io } from '../../io.ts';
import { parseTimeOption } from '../../option-parsers.ts';
import { findHaltTarget, type HaltFlags, type HaltTarget, isCluster, isPart } from './halt-target.ts';
import { withHub } from './hub.ts';
import { parseObjectName, withoutPause, withPause } from './pauses.ts';

type Flags = HaltFlags & { readonly reason: string; readonly until?: Date };

const HALT_HELP = `
Nothing is written and nothing deleted, also no corrections of drift, until "kubenode release resume" with the same names. The status
shows meanwhile what differs from git. With --unit or --object everything else of the cluster goes on; a commit that changes the unit or
the object waits in this cluster, and so do the later stages. --until ends the halt of a cluster, unit or object by itself.

Examples:
  kubenode release halt fleet --reason "ticket 42"
  kubenode release halt fleet --cluster prod-eu --reason "ticket 42"
  kubenode release halt fleet --cluster prod-eu --unit shop --reason "ticket 42"
  kubenode release halt fleet --cluster prod-eu --object Deployment/shop/web --until 2030-06-01T12:00Z --reason "ticket 42"`;

export function createHaltCommand(io: Io): Command {
  const command = new Command('halt')
    .description('write nothing to the clusters of a pipeline until it is resumed, whatever is committed')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'halt only this cluster')
    .option('--unit <name>', 'halt only this unit of the cluster')
    .option(
      '--object <object>',
      'halt only this object of the cluster, as Kind/namespace/name',
      parseObjectName,
    )
    .option(
      '--until <time>',
      'when the halt of a cluster, unit or object ends (default: when it is resumed)',
      parseTimeOption,
    )
    .option('--reason <text>', 'why it is halted: shown in the status', 'no reason given')
    .addHelpText('after', HALT_HELP);
  return addConnectionOptions(command).action((pipeline: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const target = await findHaltTarget(io, client, pipeline, flags);
      const now = io.clock.now();
      const until = pauseEnd(flags, now);
      const halt = {
        by: await readUserName(client, io.signal),
        reason: flags.reason,
        since: now.toISOString(),
      };
      if (isCluster(target.object)) {
        const request = { ...halt, ...target.part, ...optional('until', until) };
        await updatePauses(client, target.object, (pauses) => withPause(pauses, request));
      } else await haltPipeline(client, target.name, halt);
      const end = until === undefined ? 'it is resumed' : `${until}, or until it is resumed`;
      io.out(`${target.what} halted: nothing is written until ${end}. Resume it with: ${target.resume}\n`);
    }),
  );
}

/** A halt that is over would pause nothing, and a Pipeline has no end of a halt. */
function pauseEnd({ cluster, until }: Flags, now: Date): string | undefined {
  if (until === undefined) return undefined;
  if (cluster === undefined) {
    throw new CliError('--until ends the halt of a cluster, a unit or an object only', {
      hint: 'add --cluster, or remove --until and end the halt with kubenode release resume',
      exitCode: EXIT.usage,
    });
  }
  if (until > now) return wholeSeconds(until);
  throw new CliError(`the halt would be over since ${wholeSeconds(until)}`, {
    hint: 'name an --until in the future',
    exitCode: EXIT.badInput,
  });
}

export function createResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('continue a pipeline that was halted, or that a user paused')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'continue only this cluster')
    .option('--unit <name>', 'continue only this unit of the cluster')
    .option(
      '--object <object>',
      'continue only this object of the cluster, as Kind/namespace/name',
      parseObjectName,
    );
  return addConnectionOptions(command).action((pipeline: string, flags: HaltFlags) =>
    withHub(io, flags, async (client) => {
      const target = await findHaltTarget(io, client, pipeline, flags);
      const wasHalted = isHalted(target);
      if (wasHalted) await removeHalt(client, target);
      if (!isPart(target.part) && isPausedByGit(target.object)) {
        const { resource, name, what } = target;
        throw new CliError(`${what} is still paused: git sets spec.paused: true`, {
          hint: `remove spec.paused from ${resource.kind} ${name} in the fleet repository`,
        });
      }
      const { what } = target;
      io.out(wasHalted ? `${what} resumed\n` : `${what} was not halted: nothing changed\n`);
    }),
  );
}

/** Not by apply, which would remove the accepted head that the same field manager has set. */
async function haltPipeline(
  client: Client,
  name: string,
  halt: NonNullable<Pipeline['spec']['halt']>,
): Promise<void> {
  const patch = { type: 'merge', body: { spec: { halt } } } as const;
  await client.patch(PIPELINES, { name }, patch, { fieldManager: MANAGER_CLI });
}

/** Writes the pauses with the resourceVersion, so that no pause that others add now is lost. */
async function updatePauses(
  client: Client,
  cluster: Cluster,
  change: (pauses: readonly ClusterPause[]) => readonly ClusterPause[],
  more: object = {},
): Promise<void> {
  const { name } = cluster.metadata;
  await retryConflicts(async (isAgain) => {
    const current = isAgain ? await client.get<Cluster>(CLUSTERS, { name }) : cluster;
    const { resourceVersion } = current.metadata;
    const body = { metadata: { resourceVersion }, spec: { pauses: change(current.spec.pauses), ...more } };
    await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
  });
}

function isHalted({ object, part }: HaltTarget): boolean {
  const isPausedByUser = !isPart(part) && object.spec.paused && !isPausedByGit(object);
  if (!isCluster(object)) return isPausedByUser || object.spec.halt !== undefined;
  const { pauses } = object.spec;
  return isPausedByUser || withoutPause(pauses, part).length < pauses.length;
}

function isPausedByGit(object: Pipeline | Cluster): boolean {
  return object.spec.paused && isSetByGit(object, 'spec', 'paused');
}

/** A merge patch needs no ownership: it removes the stop of any manager. */
async function removeHalt(client: Client, { object, part }: HaltTarget): Promise<void> {
  const paused = isPart(part) || isPausedByGit(object) ? {} : { paused: null };
  if (isCluster(object)) {
    await updatePauses(client, object, (pauses) => withoutPause(pauses, part), paused);
    return;
  }
  const { name, resourceVersion } = object.metadata;
  const body = { metadata: { resourceVersion }, spec: { halt: null, ...paused } };
  await client.patch(PIPELINES, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
}
