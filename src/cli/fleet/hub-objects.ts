/** Reads the objects of the hub for the commands that show the fleet. */

import { CLUSTERS, PIPELINES, RELEASES } from '../../api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { approvalsOf } from '../../sync/hub/commit-origin.ts';
import type { ReleaseContext } from '../../views/release/text.ts';
import { type HubObjects, sortHub } from '../../views/status/hub-objects.ts';
import { CliError, EXIT } from '../errors.ts';

export async function readHub(client: Client, signal: AbortSignal): Promise<HubObjects> {
  const [pipelines, clusters, releases] = await Promise.all([
    listAll<Pipeline>(client, PIPELINES, signal),
    listAll<Cluster>(client, CLUSTERS, signal),
    listAll<Release>(client, RELEASES, signal),
  ]);
  return sortHub({ pipelines, clusters, releases });
}

async function listAll<T extends KubeObject>(
  client: Client,
  resource: Resource,
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  try {
    for await (const { items } of client.pages<T>(resource, { signal })) found.push(...items);
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`this cluster is not a kubenode hub: kind ${resource.kind} is not installed`, {
      where: client.server,
      hint: 'run `kubenode install`, or point --context at the hub',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
  return found;
}

/** The object of that name, or an error that lists the existing names. */
export function findByName<T extends KubeObject>(kind: string, objects: readonly T[], name: string): T {
  const found = objects.find(({ metadata }) => metadata.name === name);
  if (found) return found;
  const names = objects.map(({ metadata }) => metadata.name);
  throw new CliError(`${kind} ${name} not found in the hub`, {
    hint:
      names.length > 0
        ? `use one of: ${names.slice(0, 20).join(', ')}`
        : 'the hub has none yet: run `kubenode status`, and start sync with `kubenode sync --from REPOSITORY` if it has no Pipeline',
    exitCode: EXIT.badInput,
  });
}

/** The named one, or the only one. */
export function selectPipeline(pipelines: readonly Pipeline[], name: string | undefined): Pipeline {
  if (name !== undefined) return findByName('Pipeline', pipelines, name);
  const [only, ...others] = pipelines;
  if (only && others.length === 0) return only;
  const names = pipelines.map(({ metadata }) => metadata.name).join(', ');
  throw new CliError(only ? 'the hub has several Pipelines' : 'the hub has no Pipeline', {
    hint: only ? `name one with --pipeline: ${names}` : 'create one with kubenode sync --from REPOSITORY',
    exitCode: EXIT.badInput,
  });
}

/** Returns the Pipeline of a Release, and who approved its plan. */
export function releaseContext(
  { spec }: Release,
  { pipelines, releases }: Pick<HubObjects, 'pipelines' | 'releases'>,
): ReleaseContext & Required<Pick<ReleaseContext, 'approvals'>> {
  const pipeline = pipelines.find(({ metadata }) => metadata.name === spec.pipeline);
  const own = (): readonly Release[] => releases.filter((each) => each.spec.pipeline === spec.pipeline);
  return { ...optional('pipeline', pipeline), approvals: approvalsOf(spec, pipeline, own) };
}
