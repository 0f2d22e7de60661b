/**
 * Follows whether other clusters accept the token of a person, and permit what they permitted before. A cluster that refuses it hides what
 * was read there at once, and ends no session: only the API server of the console does that. It ends the pages when it still refuses it
 * after a while, and not again for some minutes.
 */
import type { Client } from '../../../kube/client/client.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import { createUserClient, type LossOfRights, type LostRequest } from '../user-client.ts';
import { concealErrors } from './conceal.ts';
import type { PageEndings } from './page-endings.ts';

/**
 * A server that was restarted knows neither the keys of an issuer nor its roles for some seconds. A watch, this and the check are less than
 * a minute.
 */
const DOUBT_MS = 10_000;

export interface RefusalsOptions {
  readonly clock: Clock;
  /** Asks the cluster whether it still refuses the token, or the request. Rejects when it cannot be asked. */
  readonly isRefused: (cluster: string, loss: LossOfRights, request: LostRequest) => Promise<boolean>;
  readonly endings: PageEndings;
  /** Called when a right or the token stays refused: all that was read before ends, also the lines of the last hour. */
  readonly onLoss: (loss: LossOfRights, cluster: string) => void;
  /** Replaces tokens in the errors of servers. */
  readonly conceal: (error: unknown) => unknown;
  readonly signal: AbortSignal;
}

export interface JudgedClient {
  readonly client: Client;
  /** Aborted with the reason when nothing that was read with this client may be shown. */
  readonly refused: AbortSignal;
}

export interface MemberRefusals {
  judge(cluster: string, client: Client): JudgedClient;
}

export function createMemberRefusals(options: RefusalsOptions): MemberRefusals {
  const { clock, isRefused, endings, onLoss, conceal, signal } = options;
  /** The losses that are not confirmed yet, with their clusters. */
  const doubted = new Set<string>();

  return {
    judge(cluster, client) {
      const refusal = new AbortController();
      const judged = createUserClient({
        client: concealErrors(client, conceal),
        clock,
        onLoss(loss, request) {
          refusal.abort(new Error(refusedReason(client.server, loss, request)));
          void confirm(cluster, loss, request);
        },
      });
      return { client: judged, refused: refusal.signal };
    },
  };

  async function confirm(cluster: string, loss: LossOfRights, request: LostRequest): Promise<void> {
    const doubt = JSON.stringify([cluster, loss, loss === 'Forbidden' && request.key]);
    if (doubted.has(doubt)) return;
    doubted.add(doubt);
    try {
      while (!signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const answer = await askAfterDoubt(cluster, loss, request);
        if (answer === false || signal.aborted) return;
        if (answer) {
          endings.add(cluster);
          return onLoss(loss, cluster);
        }
      }
    } finally {
      doubted.delete(doubt);
    }
  }

  /** Undefined: the cluster does not answer, and nothing is shown of it meanwhile. */
  async function askAfterDoubt(
    cluster: string,
    loss: LossOfRights,
    request: LostRequest,
  ): Promise<boolean | undefined> {
    try {
      await clock.sleep(Math.max(DOUBT_MS, endings.waitMs(cluster)), signal);
      return await isRefused(cluster, loss, request);
    } catch {
      return undefined;
    }
  }
}

function refusedReason(server: string, loss: LossOfRights, { error }: LostRequest): string {
  if (loss === 'Unauthorized') return refusedToken(server);
  return `the API server ${server} forbids what it permitted before: ${messageOf(error)}`;
}

/** Explains what has to be done where the API server of a cluster does not accept ID tokens. */
export function refusedToken(server: string): string {
  return `the API server ${server} does not accept your token: it has to trust the issuer, and the client of the console, as that of the hub does`;
}
