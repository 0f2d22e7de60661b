/** Keeps the token of a person out of the errors of other clusters: a server may repeat in an error what it was sent. */
import type { BearerSource } from '../../../kube/auth/bearer.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/errors.ts';
import { messageOf } from '../../../os/errors.ts';

export interface ConcealedBearer {
  readonly bearer: BearerSource;
  /** Returns the error without the tokens that were sent. */
  readonly conceal: (error: unknown) => unknown;
}

/** The answer to a request comes within the life of the token after the next. */
const MAX_TOKENS = 3;

/** A message is cut, and a token is longer than what is left of it: these many characters are enough to know one. */
const KNOWN_LENGTH = 16;
const REST = /^[\w.-]*/;

/** Replaces what begins as the token does, up to a character that no ID token has. */
function withoutToken(text: string, token: string): string {
  if (token === '') return text;
  const [first = '', ...rest] = text.split(token.slice(0, KNOWN_LENGTH));
  return [first, ...rest.map((part) => part.replace(REST, ''))].join('[token]');
}

export function concealBearer(source: BearerSource): ConcealedBearer {
  const sent: string[] = [];
  return {
    async bearer() {
      const token = await source();
      if (!sent.includes(token)) sent.push(token);
      if (sent.length > MAX_TOKENS) sent.shift();
      return token;
    },
    conceal(error) {
      const message = messageOf(error);
      const concealed = sent.reduce(withoutToken, message);
      if (concealed === message) return error;
      // Its details could repeat the token, too.
      return error instanceof KubeError
        ? new KubeError(error.code, concealed, { ...(error.status && { status: error.status }) })
        : new Error(concealed);
    },
  };
}

/** Wraps the reads of a client. Its writes are not used: the client of a person sends none. */
export function concealErrors(client: Client, conceal: ConcealedBearer['conceal']): Client {
  return {
    ...client,
    get: (...asked) => concealed(() => client.get(...asked)),
    list: (...asked) => concealed(() => client.list(...asked)),
    pages: (...asked) => concealedAll(() => client.pages(...asked)),
    watch: (...asked) => concealedAll(() => client.watch(...asked)),
    create: (...asked) => concealed(() => client.create(...asked)),
    resourceFor: (...asked) => concealed(() => client.resourceFor(...asked)),
    resources: () => concealed(() => client.resources()),
    raw: (...asked) => concealed(() => client.raw(...asked)),
  };

  async function concealed<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      throw conceal(error);
    }
  }

  async function* concealedAll<T>(send: () => AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* send();
    } catch (error) {
      throw conceal(error);
    }
  }
}
