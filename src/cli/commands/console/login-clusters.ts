/** Reads the clusters of `--login-clusters` with the token of each person, who has the rights there that each cluster gives. */
import { randomBytes } from 'node:crypto';
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import type { ConnectToCluster } from '../../../console/feeds/connected-clusters.ts';
import { type ConnectUser, createIdentityReader } from '../../../console/login/identity.ts';
import { type LoginCluster, parseLoginClusters } from '../../../console/login/members/clusters-file.ts';
import { concealBearer } from '../../../console/login/members/conceal.ts';
import { createMachinePlaces, type MachinePlaces } from '../../../console/login/members/machine-places.ts';
import { createPageEndings, type PageEndings } from '../../../console/login/members/page-endings.ts';
import { createMemberRefusals, type MemberRefusals } from '../../../console/login/members/refusals.ts';
import type { LostRequest } from '../../../console/login/user-client.ts';
import type { PersonAccess } from '../../../console/login/user-fleets.ts';
import type { BearerSource } from '../../../kube/auth/bearer.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { unidentified } from '../../fleet/connect-cluster.ts';
import type { Io } from '../../io.ts';
import { CONNECT_LIMIT_MS, connectWithinLimit } from './connect-limit.ts';
import type { OnCall } from './explain.ts';
import {
  connectShown,
  type ExpectedCluster,
  type FileCluster,
  isRefused,
  notRead,
} from './member-connection.ts';
import { readTextFile } from './text-file.ts';

/** As many bits as a key: an invented token is not one that was issued. */
const ID_BYTES = 32;

export interface LoginClusters {
  /** Opens the clusters of the file for one person, until the signal. */
  open(parts: PersonParts): PersonClusters;
}

export interface PersonParts {
  readonly person: PersonAccess;
  /** Reads the hub with the rights of the person. */
  readonly hub: Pick<Client, 'get'>;
  readonly signal: AbortSignal;
}

export interface PersonClusters {
  readonly connectTo: ConnectToCluster;
  /** Connects once more, to a cluster that is shown. */
  readonly reconnect: (name: string, onCall: OnCall) => Promise<Client>;
}

/** Undefined: the console shows its own cluster only. The file is read once, so that no other server gets a token later. */
export async function readLoginClusters(
  io: Pick<Io, 'clock' | 'cwd'>,
  file: string | undefined,
  hubServer: string,
): Promise<LoginClusters | undefined> {
  if (file === undefined) return undefined;
  const text = await readTextFile(io.cwd, file);
  const clusters = parseLoginClusters(text, file, hubServer).map((cluster) => fileCluster(io, cluster, text));
  const known = new Map(clusters.map((cluster) => [cluster.name, cluster]));
  const places = createMachinePlaces();
  const endingsOf = createPageEndings(io.clock);
  return {
    open(parts) {
      const endings = endingsOf(parts.person.credentialsKey);
      return openForPerson(io, { ...parts, known, places, endings });
    },
  };
}

function fileCluster({ clock }: Pick<Io, 'clock'>, cluster: LoginCluster, text: string): FileCluster {
  const options = { clock, kubeconfigText: text, context: cluster.name };
  const connectUser: ConnectUser = (bearer, onCall) =>
    connect({ ...options, bearer, ...optional('onCall', onCall) });
  const identity = createIdentityReader({
    connectUser: (bearer) =>
      connect({
        ...options,
        bearer,
        transport: { timeoutMs: CONNECT_LIMIT_MS, connectTimeoutMs: CONNECT_LIMIT_MS },
      }),
    createId: () => randomBytes(ID_BYTES).toString('base64url'),
  });
  return { ...cluster, connectUser, identity };
}

interface PersonOptions extends PersonParts {
  readonly known: ReadonlyMap<string, FileCluster>;
  readonly places: MachinePlaces;
  readonly endings: PageEndings;
}

function openForPerson({ clock }: Pick<Io, 'clock'>, options: PersonOptions): PersonClusters {
  const { person, endings, signal } = options;
  const { bearer, conceal } = concealBearer(person.bearer);
  const refusals = createMemberRefusals({
    clock,
    conceal,
    signal,
    endings,
    onLoss: person.onLoss,
    async isRefused(name, loss, request) {
      const found = clusterOfFile(options, name);
      if (loss === 'Unauthorized') return await isRefused(found, bearer, signal);
      return await connectWithinLimit({ clock, signal }, name, async (limit) =>
        isForbidden(await found.connectUser(bearer), request, limit),
      );
    },
  });
  const access = { ...options, clock, bearer, refusals };
  return {
    async connectTo(name, onCall) {
      try {
        const expected = await expectedOnHub(access, name);
        return await connectWithinLimit(access, name, (limit) =>
          connectShown({ ...access, signal: limit }, expected, onCall),
        );
      } catch (error) {
        throw conceal(error);
      }
    },
    async reconnect(name, onCall) {
      const client = await clusterOfFile(options, name).connectUser(bearer, onCall);
      return refusals.judge(name, client).client;
    },
  };
}

interface PersonMembers extends PersonOptions {
  readonly bearer: BearerSource;
  readonly refusals: MemberRefusals;
}

/** The hub and the issuer are asked before the limit of the cluster begins: their errors must not be about the cluster. */
async function expectedOnHub({ bearer, ...options }: PersonMembers, name: string): Promise<ExpectedCluster> {
  const { hub, signal } = options;
  const found = clusterOfFile(options, name);
  const cluster = await hub.get<Cluster>(CLUSTERS, { name }, { signal, timeoutMs: CONNECT_LIMIT_MS });
  const uid = cluster.spec.clusterUID ?? cluster.status?.clusterUID;
  if (uid === undefined) throw notRead(unidentified(cluster));
  // Renews a token that is due.
  await bearer();
  return { found, uid };
}

/** Tells whether the request is still refused, and closes the client. */
async function isForbidden(client: Client, request: LostRequest, signal: AbortSignal): Promise<boolean> {
  try {
    await request.sendAgain(client, signal);
    return false;
  } catch (error) {
    if (isKubeError(error, 'Forbidden', 'Unauthorized')) return true;
    throw error;
  } finally {
    await client.close();
  }
}

/** The token of a person is sent to the servers that the operator names only: who may write a Cluster could collect tokens. */
function clusterOfFile({ known }: Pick<PersonOptions, 'known'>, name: string): FileCluster {
  const found = known.get(name);
  if (found) return found;
  throw notRead(
    `the file of --login-clusters has no context ${name}: open the console of ${name}, or ask the operator of this one to add the context`,
  );
}
