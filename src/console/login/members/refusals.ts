/**
 * Follows whether other clusters accept the token of a person. A cluster that refuses it hides what was read there at once, and ends no
 * session: only the API server of the console does that. What the person may not read any more there ends the pages, as on the hub.
 */
import type { Client } from '../../../kube/client/client.ts';
import type { Clock } from '../../../os/clock.ts';
import { createUserClient, type LossOfRights } from '../user-client.ts';
import { concealErrors } from './conceal.ts';

/** A server that was restarted does not know the keys of an issuer for some seconds. A watch, this and the check are less than a minute. */
const DOUBT_MS = 10_000;

export interface RefusalsOptions {
  readonly clock: Clock;
  /** Asks the cluster whether it refuses the token. Rejects when it cannot be asked. */
  readonly isRefused: (cluster: string) => Promise<boolean>;
  /** Called when a right was taken away, and when a token stays refused: all that was read before ends, also the lines of the last hour. */
  readonly onLoss: (loss: LossOfRights) => void;
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
  const { clock, isRefused, onLoss, conceal, signal } = options;
  /** The clusters that are in doubt. */
  const doubted = new Set<string>();

  return {
    judge(cluster, client) {
      const refusal = new AbortController();
      const judged = createUserClient({
        client: concealErrors(client, conceal),
        clock,
        onLoss(loss) {
          if (loss === 'Forbidden') return onLoss(loss);
          refusal.abort(new Error(refusedToken(client.server)));
          void confirm(cluster);
        },
      });
      return { client: judged, refused: refusal.signal };
    },
  };

  async function confirm(cluster: string): Promise<void> {
    if (doubted.has(cluster)) return;
    doubted.add(cluster);
    try {
      while (!signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const answer = await askAfterDoubt(cluster);
        if (answer === true) return onLoss('Unauthorized');
        if (answer === false) return;
      }
    } finally {
      doubted.delete(cluster);
    }
  }

  /** Undefined: the cluster does not answer, and nothing is shown of it meanwhile. */
  async function askAfterDoubt(cluster: string): Promise<boolean | undefined> {
    try {
      await clock.sleep(DOUBT_MS, signal);
      return await isRefused(cluster);
    } catch {
      return undefined;
    }
  }
}

/** Explains what has to be done where the API server of a cluster does not accept ID tokens. */
export function refusedToken(server: string): string {
  return `the API server ${server} does not accept your token: it has to trust the issuer, and the client of the console, as that of the hub does`;
}
