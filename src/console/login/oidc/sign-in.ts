/** The sign-in at an issuer: leads the browser there, and completes what it comes back with. */

import { messageOf } from '../../../os/errors.ts';
import { clientAddress } from '../../../os/net/connection-limits.ts';
import { formatCookie, OIDC_COOKIE, readCookie } from '../http/cookies.ts';
import { OIDC_CALLBACK } from '../http/pages.ts';
import {
  describeFailure,
  type SignedIn,
  type SignInOptions,
  type SignInRefusal,
  type SiteRequest,
  tooMany,
} from '../sign-in.ts';
import { createOidcCredentials, type OidcCredentialsOptions } from './credentials.ts';
import type { IssuedTokens, Issuer } from './issuer.ts';
import { createPendingSignIns, PENDING_SECONDS } from './pending.ts';

export interface OidcSignInOptions extends Omit<SignInOptions, 'ways' | 'sessions'> {
  readonly clock: OidcCredentialsOptions['clock'] & Parameters<typeof createPendingSignIns>[0];
  readonly issuer: Issuer;
}

export interface OidcSignIn {
  /** Resolves to where the browser is led, with the cookie that it comes back with. */
  start(asked: SiteRequest): Promise<{ readonly location: string; readonly cookie: string } | SignInRefusal>;
  /** Judges what the browser came back with. */
  finish(asked: SiteRequest): Promise<SignedIn | SignInRefusal>;
}

const NOT_ASKED = 'Not signed in: the issuer cannot be asked. The administrator finds the reason in the log.';
const NOT_BEGUN = 'Not signed in: this sign-in was not begun in this browser, or took too long. Try again.';
const NOT_COMPLETED = 'Not signed in: the issuer did not complete the sign-in. Try again.';

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  const { clock, issuer, createId, limits, identity, log, signal } = options;
  const pending = createPendingSignIns(clock);
  return {
    async start({ request, site }) {
      const address = clientAddress(request.socket.remoteAddress);
      const waitSeconds = limits.waitSeconds(address);
      if (waitSeconds > 0) return tooMany(waitSeconds);
      try {
        const { url, checks } = await issuer.start(`${site.origin}${OIDC_CALLBACK}`);
        const value = pending.seal(checks);
        const cookie = formatCookie(OIDC_COOKIE, site, { value, maxAgeSeconds: PENDING_SECONDS });
        return { location: url.href, cookie };
      } catch (error) {
        limits.failed(address);
        log.warn('sign-in refused', { address, reason: 'IssuerNotAsked', error: causesOf(error) });
        return { status: 502, message: NOT_ASKED };
      }
    },
    async finish({ request, site }) {
      const address = clientAddress(request.socket.remoteAddress);
      const waitSeconds = limits.waitSeconds(address);
      if (waitSeconds > 0) return tooMany(waitSeconds);
      const checks = pending.read(readCookie(request.headers.cookie, OIDC_COOKIE, site));
      if (!checks) return { status: 403, message: NOT_BEGUN };
      const leave = limits.enter();
      if (!leave) return tooMany(1);
      try {
        return await complete(address, () => issuer.finish(new URL(request.url ?? '', site.origin), checks));
      } finally {
        leave();
      }
    },
  };

  async function complete(
    address: string,
    finish: () => Promise<IssuedTokens>,
  ): Promise<SignedIn | SignInRefusal> {
    const tokens = await finish().catch((error: unknown) => failWith(address, 'IssuerRefused', error));
    if (!tokens) return { status: 403, message: NOT_COMPLETED };
    const credentials = createOidcCredentials(tokens, { clock, issuer, createId });
    try {
      return { user: await identity.read(credentials.bearer, signal), credentials };
    } catch (error) {
      const { refusal, reason } = describeFailure(error);
      failWith(address, reason, error);
      return refusal;
    }
  }

  function failWith(address: string, reason: string, error: unknown): undefined {
    limits.failed(address);
    log.warn('sign-in refused', { address, reason, error: causesOf(error) });
  }
}

/** Joins the messages of an error and its causes: that of openid-client alone is general. Causes that are answers are left out. */
function causesOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error ? `${messageOf(error)}: ${causesOf(cause)}` : messageOf(error);
}
