/** Reads what belongs to one machine besides its Machine, as far as the person may read it. */
import type { AnswersOfPeer } from '../../api/diagnosis/peer-answers.ts';
import { DEFENDER_LEDGERS, MACHINES } from '../../api/generated/resources.ts';
import type { LedgerGrant, Machine } from '../../api/generated/types.ts';
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

/** Reads what the agents of the peers of a silent machine answered: at most six Machines. */
export async function readPeerAnswers(
  client: Client,
  { status }: Machine,
  signal: AbortSignal,
): Promise<AnswersOfPeer> {
  const names = status?.silence?.peers ?? [];
  const peers = await Promise.all(names.map((peer) => readIfPermitted(client, MACHINES, peer, signal)));
  const answers = new Map(peers.map((peer) => [peer?.metadata.name, peer?.status?.peers]));
  return (peer) => answers.get(peer);
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
