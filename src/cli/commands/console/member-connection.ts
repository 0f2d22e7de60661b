/** Connects to one of the clusters of `--login-clusters` with the token of a person: what has to hold before anything is read, and how much is. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { ShownConnection } from '../../../console/feeds/connected-clusters.ts';
import type { ConnectUser, IdentityReader } from '../../../console/login/identity.ts';
import type { LoginCluster } from '../../../console/login/members/clusters-file.ts';
import { boundMachines } from '../../../console/login/members/machine-bound.ts';
import type { MachinePlaces } from '../../../console/login/members/machine-places.ts';
import {
  type JudgedClient,
  type MemberRefusals,
  refusedToken,
} from '../../../console/login/members/refusals.ts';
import type { BearerSource } from '../../../kube/auth/bearer.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { CliError, EXIT } from '../../errors.ts';
import { checkIdentity } from '../../fleet/connect-cluster.ts';
import type { OnCall } from './explain.ts';

/** The number that a cluster counts as whose server does not count its objects. */
const UNCOUNTED = 10_000;

export interface FileCluster extends LoginCluster {
  readonly connectUser: ConnectUser;
  readonly identity: IdentityReader;
}

export interface ExpectedCluster {
  readonly found: FileCluster;
  readonly uid: string;
}

/** Holds what the connections of one person share. */
export interface MemberSharing {
  readonly bearer: BearerSource;
  readonly refusals: MemberRefusals;
  readonly places: MachinePlaces;
  readonly person: { readonly name: string };
  readonly signal: AbortSignal;
}

/** Before anything is read, the server has to read tokens, to accept this one, and to be the cluster of the hub. */
export async function connectShown(
  { bearer, refusals, places, person, signal }: MemberSharing,
  { found, uid }: ExpectedCluster,
  onCall: OnCall,
): Promise<ShownConnection> {
  const { name } = found;
  if (await isRefused(found, bearer, signal)) throw notRead(refusedToken(found.server));
  const client = await found.connectUser(bearer, onCall);
  const shown = await checkIdentity({ signal }, client, { context: name, uid });
  if (typeof shown === 'string') throw notRead(shown);
  const machines = await countOrClose(client, signal);
  const free = places.take(person.name, machines);
  if (typeof free === 'string') {
    await client.close();
    throw notRead(free);
  }
  const judged = refusals.judge(name, client);
  return { by: shown.by, ...boundToPlaces(judged, { places, person: person.name, machines, free }) };
}

interface TakenPlaces {
  readonly places: MachinePlaces;
  readonly person: string;
  readonly machines: number;
  readonly free: () => void;
}

/** A cluster that grows takes further places while there are some, and frees all when its client is closed. */
function boundToPlaces(
  { client, refused }: JudgedClient,
  { places, person, machines, free }: TakenPlaces,
): JudgedClient {
  const taken = [free];
  const bound = boundMachines(client, {
    held: places.sizeOf(machines),
    takeMore() {
      const more = places.take(person, 0);
      if (typeof more === 'string') return undefined;
      taken.push(more);
      return places.sizeOf(0);
    },
  });
  return {
    client: closing(bound.client, () => {
      for (const freeOne of taken.splice(0)) freeOne();
    }),
    refused: AbortSignal.any([refused, bound.exceeded]),
  };
}

export async function isRefused(
  { identity }: FileCluster,
  bearer: BearerSource,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await identity.read(bearer, signal);
    return false;
  } catch (error) {
    if (isKubeError(error, 'Unauthorized')) return true;
    throw error;
  }
}

/** Machines that may not be read take no memory. What is permitted later is bound by the places of a small cluster. */
async function countOrClose(client: Client, signal: AbortSignal): Promise<number> {
  try {
    const page = await client.list(MACHINES, { limit: 1, signal });
    return page.items.length + (page.remaining ?? (page.continue === undefined ? 0 : UNCOUNTED));
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'NotFound')) return 0;
    await client.close();
    throw error;
  }
}

function closing(client: Client, free: () => void): Client {
  return {
    ...client,
    async close() {
      free();
      await client.close();
    },
  };
}

/** Returns why the machines of a cluster are not shown. */
export function notRead(reason: string): CliError {
  return new CliError(reason, { exitCode: EXIT.unavailable });
}
