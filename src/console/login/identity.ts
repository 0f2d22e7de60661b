/** Asks the API server whose token this is. The console judges no token itself. */
import type { BearerSource } from '../../kube/auth/bearer.ts';
import { readUser, type User } from '../../kube/auth/self-review.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';

/** Connects to the API server with this token, and no other credentials. */
export type ConnectUser = (
  bearer: BearerSource,
  /** Called for every request that is answered. */
  onCall?: (report: CallReport) => void,
) => Promise<Client>;

export interface IdentityReader {
  /** Rejects with Unauthorized when the API server refuses the token, and with another error when it cannot be asked. */
  read(bearer: BearerSource, signal: AbortSignal): Promise<User>;
}

/** An API server that accepts an invented token does not read tokens: each would be the user of whatever is in front of it. */
export class TokensNotJudged extends Error {
  override readonly name = 'TokensNotJudged';

  constructor() {
    super('the API server accepts tokens that were not issued: it does not read them');
  }
}

/** The user whom an API server knows without credentials, and the name of a user that it did not name. */
const NOT_A_USER: ReadonlySet<string> = new Set(['system:anonymous', 'unknown', '']);

interface IdentityOptions {
  readonly connectUser: ConnectUser;
  /** Random text, as an invented token. */
  readonly createId: () => string;
}

export function createIdentityReader({ connectUser, createId }: IdentityOptions): IdentityReader {
  let areJudged = false;
  return {
    async read(bearer, signal) {
      if (!areJudged) await checkInvented(signal);
      areJudged = true;
      const user = await ask(bearer, signal);
      if (NOT_A_USER.has(user.name)) throw new TokensNotJudged();
      return user;
    },
  };

  async function checkInvented(signal: AbortSignal): Promise<void> {
    const invented = createId();
    try {
      await ask(() => Promise.resolve(invented), signal);
    } catch (error) {
      if (isKubeError(error, 'Unauthorized')) return;
      throw error;
    }
    throw new TokensNotJudged();
  }

  async function ask(bearer: BearerSource, signal: AbortSignal): Promise<User> {
    const client = await connectUser(bearer);
    try {
      return await readUser(client, signal);
    } finally {
      await client.close();
    }
  }
}
