/**
 * `kubenode release halt` and `resume`: a stop by the user. It is in fields that git must not set, so that no commit and no
 * sync lifts it.
 */
import { Command } from 'commander';
import { CLUSTERS, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { MANAGER_CLI } from '../../../api/names.ts';
import { API_VERSION } from '../../../api/version.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError } from '../../errors.ts';
import { isSetByGit } from '../../fleet/git-owned.ts';
import { findByName, readHub } from '../../hub-objects.ts';
import type { Io } from '../../io.ts';
import { readUserName } from '../../principal.ts';
import { withHub } from './hub.ts';

type Flags = ConnectionFlags & { readonly cluster?: string };

/** Name of the entry in `spec.pauses` of a Cluster. */
const PAUSE = 'release-halt';

export function createHaltCommand(io: Io): Command {
  const command = new Command('halt')
    .description('write nothing to the clusters of a pipeline until it is resumed, whatever is committed')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'halt only this cluster')
    .option('--reason <text>', 'why it is halted: shown in the status', 'no reason given');
  return addConnectionOptions(command).action((pipeline: string, flags: Flags & { reason: string }) =>
    withHub(io, flags, async (client) => {
      const { name, what } = await findTarget(io, client, pipeline, flags.cluster);
      const by = await readUserName(client, io.signal);
      const { reason } = flags;
      const since = io.clock.now().toISOString();
      if (flags.cluster === undefined) await haltPipeline(client, name, { by, reason, since });
      else await pauseCluster(client, name, { by, reason });
      const resume = ['kubenode release resume', pipeline, ...(flags.cluster ? ['--cluster', name] : [])];
      io.out(`${what} halted: nothing is written until it is resumed. Resume it with: ${resume.join(' ')}\n`);
    }),
  );
}

export function createResumeCommand(io: Io): Command {
  const command = new Command('resume')
    .description('continue a pipeline that was halted, or that a user paused')
    .argument('<pipeline>', 'name of the Pipeline')
    .option('--cluster <name>', 'continue only this cluster');
  return addConnectionOptions(command).action((pipeline: string, flags: Flags) =>
    withHub(io, flags, async (client) => {
      const { resource, name, what, object } = await findTarget(io, client, pipeline, flags.cluster);
      const git = isPausedByGit(object);
      const wasHalted = isHalted(object);
      if (wasHalted) await removeHalt(client, resource, object);
      if (git) {
        throw new CliError(`${what} is still paused: git sets spec.paused: true`, {
          hint: `remove spec.paused from ${resource.kind} ${name} in the fleet repository`,
        });
      }
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

/** By apply, which keeps the pauses of others. */
async function pauseCluster(
  client: Client,
  name: string,
  pause: { readonly by: string; readonly reason: string },
): Promise<void> {
  const spec = { pauses: [{ name: PAUSE, ...pause }] };
  const intent = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, spec };
  await client.apply(CLUSTERS, intent, { fieldManager: MANAGER_CLI, force: true });
}

interface HaltTarget {
  readonly resource: Resource;
  readonly name: string;
  readonly what: string;
  readonly object: Pipeline | Cluster;
}

async function findTarget(
  io: Io,
  client: Client,
  pipeline: string,
  cluster: string | undefined,
): Promise<HaltTarget> {
  const { pipelines, clusters } = await readHub(client, io.signal);
  const found = findByName('Pipeline', pipelines, pipeline);
  if (cluster === undefined) {
    return { resource: PIPELINES, name: pipeline, what: `pipeline ${pipeline}`, object: found };
  }
  const object = findByName('Cluster', clusters, cluster);
  return { resource: CLUSTERS, name: cluster, what: `cluster ${cluster}`, object };
}

function isHalted(object: Pipeline | Cluster): boolean {
  const isPausedByUser = object.spec.paused && !isPausedByGit(object);
  return (
    isPausedByUser || ('pauses' in object.spec ? object.spec.pauses.some(isHaltPause) : !!object.spec.halt)
  );
}

function isHaltPause({ name }: Cluster['spec']['pauses'][number]): boolean {
  return name === PAUSE;
}

function isPausedByGit(object: Pipeline | Cluster): boolean {
  return object.spec.paused && isSetByGit(object, 'spec', 'paused');
}

/** A merge patch needs no ownership: it removes the stop of any manager. With the resourceVersion, so that no pause that others add now is lost. */
async function removeHalt(client: Client, resource: Resource, object: Pipeline | Cluster): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const paused = isPausedByGit(object) ? {} : { paused: null };
  const stop =
    'pauses' in object.spec
      ? { pauses: object.spec.pauses.filter((each) => !isHaltPause(each)) }
      : { halt: null };
  const body = { metadata: { resourceVersion }, spec: { ...stop, ...paused } };
  await client.patch(resource, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI });
}
