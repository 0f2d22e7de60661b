/**
 * `kubenode release halt` and `resume`: a stop by the user. It is in fields that git must not set, so that no commit and no
 * sync lifts it.
 */
import { Command } from 'commander';
import { CLUSTERS, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster, ClusterPause, Pipeline } from '../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { isSetByGit } from '../../../views/fleet/git-owned.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { findByName, readHub } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { readUserName } from '../../principal.ts';
import { withHub } from './hub.ts';
import { checkUnit, withoutPause, withPause } from './pauses.ts';

type Flags = ConnectionFlags & { readonly cluster?: string; readonly unit?: string };

const HALT_HELP = `
Nothing is written and nothing deleted, also no corrections of drift, until "kubenode release resume" with the same names. The status
shows meanwhile what differs from git. With --unit the other units of the cluster go on; a commit that changes the unit waits in this
cluster, and so do the later stages.

Examples:
  kubenode release halt fleet --reason "ticket 42"
  kubenode release halt fleet --cluster prod-eu --reason "ticket 42"
  kubenode release halt fleet --cluster prod-eu --unit shop --reason "ticket 42"`;

export function createHaltCommand(io: Io): Command {
  const command = new Command('halt')
    .description('write nothing to the clusters of a pipeline until it is resumed, whatever is committed')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'halt only this cluster')
    .option('--unit <name>', 'halt only this unit of the cluster')
    .option('--reason <text>', 'why it is halted: shown in the status', 'no reason given')
    .addHelpText('after', HALT_HELP);
  return addConnectionOptions(command).action((pipeline: string, flags: Flags & { reason: string }) =>
    withHub(io, flags, async (client) => {
      const target = await findTarget(io, client, pipeline, flags);
      const by = await readUserName(client, io.signal);
      const since = io.clock.now().toISOString();
      const halt = { by, reason: flags.reason, since };
      const { unit } = flags;
      if (isCluster(target.object)) {
        const request = { ...halt, ...(unit === undefined ? {} : { unit }) };
        await updatePauses(client, target.object, (pauses) => withPause(pauses, request));
      } else await haltPipeline(client, target.name, halt);
      io.out(
        `${target.what} halted: nothing is written until it is resumed. Resume it with: ${target.resume}\n`,
      );
    }),
  );
}

export function createResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('continue a pipeline that was halted, or that a user paused')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'continue only this cluster')
    .option('--unit <name>', 'continue only this unit of the cluster');
  return addConnectionOptions(command).action((pipeline: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const target = await findTarget(io, client, pipeline, flags);
      const wasHalted = isHalted(target);
      if (wasHalted) await removeHalt(client, target);
      if (flags.unit === undefined && isPausedByGit(target.object)) {
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

const ATTEMPTS = 5;

/** With the resourceVersion, so that no pause that others add now is lost. */
async function updatePauses(
  client: Client,
  cluster: Cluster,
  change: (pauses: readonly ClusterPause[]) => readonly ClusterPause[],
  more: object = {},
): Promise<void> {
  const { name } = cluster.metadata;
  let current = cluster;
  for (let attempt = 1; ; attempt += 1) {
    const { resourceVersion } = current.metadata;
    const body = { metadata: { resourceVersion }, spec: { pauses: change(current.spec.pauses), ...more } };
    try {
      await client.patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !isKubeError(error, 'Conflict')) throw error;
      current = await client.get<Cluster>(CLUSTERS, { name });
    }
  }
}

interface HaltTarget {
  readonly resource: Resource;
  readonly name: string;
  readonly unit: string | undefined;
  readonly what: string;
  /** The command that ends its halt. */
  readonly resume: string;
  readonly object: Pipeline | Cluster;
}

async function findTarget(
  io: Io,
  client: Client,
  pipeline: string,
  { cluster, unit }: Flags,
): Promise<HaltTarget> {
  const resume = `kubenode release resume ${pipeline}`;
  if (cluster === undefined && unit !== undefined) {
    throw new CliError('--unit needs the cluster of the unit', {
      hint: `add --cluster: ${resume.replace('resume', 'halt')} --cluster NAME --unit ${unit}`,
      exitCode: EXIT.usage,
    });
  }
  const { pipelines, clusters } = await readHub(client, io.signal);
  const found = findByName('Pipeline', pipelines, pipeline);
  if (cluster === undefined) {
    return { resource: PIPELINES, name: pipeline, unit, what: `pipeline ${pipeline}`, resume, object: found };
  }
  const object = findByName('Cluster', clusters, cluster);
  if (unit !== undefined) checkUnit(object, unit);
  const what = unit === undefined ? `cluster ${cluster}` : `unit ${unit} of cluster ${cluster}`;
  const flags = [`--cluster ${cluster}`, ...(unit === undefined ? [] : [`--unit ${unit}`])];
  return { resource: CLUSTERS, name: cluster, unit, what, resume: [resume, ...flags].join(' '), object };
}

function isCluster(object: Pipeline | Cluster): object is Cluster {
  return 'pauses' in object.spec;
}

function isHalted({ object, unit }: HaltTarget): boolean {
  const isPausedByUser = unit === undefined && object.spec.paused && !isPausedByGit(object);
  if (!isCluster(object)) return isPausedByUser || object.spec.halt !== undefined;
  const { pauses } = object.spec;
  return isPausedByUser || withoutPause(pauses, unit).length < pauses.length;
}

function isPausedByGit(object: Pipeline | Cluster): boolean {
  return object.spec.paused && isSetByGit(object, 'spec', 'paused');
}

/** A merge patch needs no ownership: it removes the stop of any manager. */
async function removeHalt(client: Client, { object, unit }: HaltTarget): Promise<void> {
  const paused = unit !== undefined || isPausedByGit(object) ? {} : { paused: null };
  if (isCluster(object)) {
    await updatePauses(client, object, (pauses) => withoutPause(pauses, unit), paused);
    return;
  }
  const { name, resourceVersion } = object.metadata;
  const body = { metadata: { resourceVersion }, spec: { halt: null, ...paused } };
  await client.patch(PIPELINES, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
}
