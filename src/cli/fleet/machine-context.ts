/** Reads what belongs to one machine besides its Machine, as far as the person may read it. */
import { DEFENDER_LEDGERS } from '../../api/generated/resources.ts';
import type { LedgerGrant } from '../../api/generated/types.ts';
import { LEDGER } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';

export async function readNodeOf(
  client: Client,
  machine: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  return await readIfPermitted(client, NODES, machine, signal);
}

/** Reads the grants of acts that are not settled, by machine. */
export async function readGrants(
  client: Client,
  signal: AbortSignal,
): Promise<Readonly<Record<string, LedgerGrant>>> {
  const ledger = await readIfPermitted(client, DEFENDER_LEDGERS, LEDGER, signal);
  const grants = Object.entries(ledger?.spec.grants ?? {});
  return Object.fromEntries(grants.filter(([, { state }]) => state !== 'Settled'));
}

/** Reads an object. Undefined: it does not exist, or the person may not read it. */
export async function readIfPermitted<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, { name }, { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return undefined;
    throw error;
  }
}
