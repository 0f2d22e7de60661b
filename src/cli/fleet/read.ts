/** Reads the objects of one cluster for the commands about its machines, page by page. */
import type { Client, ListOptions } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { type ConnectionFlags, connectFrom } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { hubHint } from './hub.ts';

export async function withCluster<T>(
  io: Io,
  flags: ConnectionFlags,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connectFrom(io, flags);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Only what `select` returns is kept: a fleet of 10,000 machines is never in memory as a whole. */
export async function collect<T extends KubeObject, R>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions,
  select: (object: T) => R,
): Promise<R[]> {
  const found: R[] = [];
  try {
    for await (const { items } of client.pages<T>(resource, options)) {
      for (const item of items) found.push(select(item));
    }
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? notInstalled(client, resource, error) : error;
  }
  return found;
}

const MAX_NAMES = 20;

/** The object of that name, or an error that lists the first existing names. */
export async function readNamed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await client.get<T>(resource, { name }, { signal });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
    const names = await firstNames(client, resource, signal);
    const none = names.length > 0 ? undefined : await hubHint(client, signal);
    throw new CliError(`${resource.kind} ${name} does not exist in this cluster`, {
      where: client.server,
      hint:
        names.length > 0 ? `use one of: ${names.join(', ')}` : (none ?? `there is no ${resource.kind} yet`),
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

async function firstNames(
  client: Client,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const { items } = await client.list(resource, { limit: MAX_NAMES, signal });
    return items.map(({ metadata }) => metadata.name);
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? notInstalled(client, resource, error) : error;
  }
}

function notInstalled({ server }: Client, { kind }: Resource, cause: unknown): CliError {
  return new CliError(`kind ${kind} is not installed in this cluster`, {
    where: server,
    hint: 'run `kubenode install`, or point --context at a cluster of the fleet',
    exitCode: EXIT.badInput,
    cause,
  });
}
