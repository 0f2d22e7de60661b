/** The credentials of a person who signed in at an issuer: the token is renewed before it ends, while the issuer agrees. */
import { KubeError } from '../../../kube/client/errors.ts';
import type { Clock } from '../../../os/clock.ts';
import type { SessionCredentials } from '../sessions.ts';
import type { IssuedTokens, Issuer } from './issuer.ts';
import { RenewalRefused } from './renewal-refused.ts';

/** A token is renewed when this share of its time is over: the rest is for an issuer that cannot be asked. */
const RENEW_AFTER = 0.8;
/** The wait after an issuer could not be asked. Each watch asks for the token. */
const RETRY_MS = 10_000;

export interface OidcCredentialsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly issuer: Pick<Issuer, 'renew'>;
  readonly createId: () => string;
}

/** The key is random: two sign-ins of one person have tokens that end, and are revoked, apart from each other. */
export function createOidcCredentials(
  first: IssuedTokens,
  { clock, issuer, createId }: OidcCredentialsOptions,
): SessionCredentials {
  const nowMs = (): number => clock.now().getTime();
  let tokens = first;
  let renewAtMs = renewalOf(first);
  let renewing: Promise<void> | undefined;
  return {
    key: createId(),
    endsAt: first.refreshToken === undefined ? first.endsAt : undefined,
    async bearer() {
      if (nowMs() >= renewAtMs) await (renewing ??= renew().finally(() => (renewing = undefined)));
      return tokens.idToken;
    },
  };

  function renewalOf({ refreshToken, endsAt }: IssuedTokens): number {
    if (refreshToken === undefined) return Number.POSITIVE_INFINITY;
    return nowMs() + (endsAt.getTime() - nowMs()) * RENEW_AFTER;
  }

  /** When the issuer cannot be asked, the token is used until it ends: then the API server refuses it. */
  async function renew(): Promise<void> {
    try {
      tokens = await issuer.renew(tokens);
      renewAtMs = renewalOf(tokens);
    } catch (error) {
      // The next call also fails: the person signs in again.
      if (error instanceof RenewalRefused) throw new KubeError('Unauthorized', error.message);
      renewAtMs = nowMs() + RETRY_MS;
    }
  }
}
