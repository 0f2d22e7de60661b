/** What the commands that look at the fleet read from the hub. */

import { CLUSTERS, PIPELINES, RELEASES } from '../api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../api/generated/types.ts';
import type { Client } from '../kube/client/client.ts';
import { isKubeError } from '../kube/client/errors.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import { CliError, EXIT } from './errors.ts';

export interface HubObjects {
  readonly pipelines: readonly Pipeline[];
  readonly clusters: readonly Cluster[];
  /** Newest first. */
  readonly releases: readonly Release[];
}

export async function readHub(client: Client, signal: AbortSignal): Promise<HubObjects> {
  const [pipelines, clusters, releases] = await Promise.all([
    all<Pipeline>(client, PIPELINES, signal),
    all<Cluster>(client, CLUSTERS, signal),
    all<Release>(client, RELEASES, signal),
  ]);
  return { pipelines: byName(pipelines), clusters: byName(clusters), releases: newestFirst(releases) };
}

async function all<T extends KubeObject>(
  client: Client,
  resource: Resource,
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  try {
    for await (const { items } of client.pages<T>(resource, { signal })) found.push(...items);
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`this cluster has no kind ${resource.kind}: it is no hub of kubenode`, {
      where: client.server,
      hint: 'name the hub with --context, or make this one a hub: kubenode install',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
  return found;
}

/** The one of that name, or an error that says which there are. */
export function pick<T extends KubeObject>(objects: readonly T[], name: string): T {
  const found = objects.find(({ metadata }) => metadata.name === name);
  if (found) return found;
  const kind = objects[0]?.kind ?? 'object';
  const names = objects.map(({ metadata }) => metadata.name);
  throw new CliError(`there is no ${kind} ${name} in the hub`, {
    hint:
      names.length > 0
        ? `name one of: ${names.slice(0, 20).join(', ')}`
        : 'there is none at all: is sync running?',
    exitCode: EXIT.badInput,
  });
}

function byName<T extends KubeObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

function newestFirst(releases: readonly Release[]): Release[] {
  return releases.toSorted((a, b) => (ageKey(a) < ageKey(b) ? 1 : -1));
}

function ageKey({ metadata }: Release): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
