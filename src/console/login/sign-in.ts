/** The sign-in with a token: shows the form, and lets the API server judge what is entered. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { User } from '../../kube/auth/self-review.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Log } from '../../kube/process/log.ts';
import { isSameText } from '../../kube/webhook/signature.ts';
import { messageOf } from '../../os/errors.ts';
import { clientAddress } from '../../os/net/connection-limits.ts';
import type { SignInLimits } from './attempts.ts';
import { formatCookie, LOGIN_COOKIE, readCookie, SESSION_COOKIE } from './http/cookies.ts';
import { readForm } from './http/form.ts';
import { sendHtml } from './http/html.ts';
import { type SignInWays, signInPage } from './http/pages.ts';
import { crossSiteReason, type RequestSite } from './http/site.ts';
import { type IdentityReader, TokensNotJudged } from './identity.ts';
import { digestOf, SESSION_ENDS, type SessionCredentials, type Sessions } from './sessions.ts';
import { parseToken, tokenEnd } from './token.ts';

export interface SignInOptions {
  readonly ways: SignInWays;
  readonly sessions: Sessions;
  readonly limits: SignInLimits;
  readonly identity: IdentityReader;
  readonly createId: () => string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A request with the address under which it came. */
export interface SiteRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly site: RequestSite;
}

export interface SignInRefusal {
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** A person whose credentials the API server accepts. */
export interface SignedIn {
  readonly user: User;
  readonly credentials: SessionCredentials;
}

/** Shows the form. Its cookie and its hidden field have the same value, which another site can neither read nor set. */
export function showSignIn(
  { request, response, site }: SiteRequest,
  { ways, sessions, createId }: Pick<SignInOptions, 'ways' | 'sessions' | 'createId'>,
  refusal?: SignInRefusal,
): void {
  const formId = readCookie(request.headers.cookie, LOGIN_COOKIE, site) ?? createId();
  const ended = sessions.endOf(readCookie(request.headers.cookie, SESSION_COOKIE, site));
  const shown: Omit<SignInRefusal, 'message'> & { readonly message?: string | undefined } = refusal ?? {
    status: 200,
    message: ended && SESSION_ENDS[ended],
  };
  const { status, message, retryAfterSeconds: retry } = shown;
  sendHtml(response, status, {
    page: signInPage({ ways, formId, message }),
    headers: {
      'set-cookie': formatCookie(LOGIN_COOKIE, site, { value: formId }),
      ...(retry === undefined ? {} : { 'retry-after': String(retry) }),
    },
  });
}

/** Judges a form with a token. */
export async function judgeForm(
  { request, site }: Pick<SiteRequest, 'request' | 'site'>,
  options: SignInOptions,
): Promise<SignedIn | SignInRefusal> {
  const foreign = crossSiteReason(request.headers, site);
  if (foreign !== undefined) return { status: 403, message: `Not signed in: ${foreign}.` };
  const address = clientAddress(request.socket.remoteAddress);
  const waitSeconds = options.limits.waitSeconds(address);
  if (waitSeconds > 0) return tooMany(waitSeconds);
  const form = await readForm(request);
  if (!form) return { status: 400, message: 'Not signed in: expected the form of this page.' };
  if (!isOfPage(form, readCookie(request.headers.cookie, LOGIN_COOKIE, site))) {
    return {
      status: 403,
      message: 'Not signed in: the page was open too long, or cookies are off. Try again.',
    };
  }
  const parsed = parseToken(form.get('token') ?? '');
  if ('because' in parsed) return { status: 400, message: `Not signed in: ${parsed.because}.` };
  // The form was read slowly: others may have failed meanwhile.
  const waitMore = options.limits.waitSeconds(address);
  if (waitMore > 0) return tooMany(waitMore);
  return await judgeToken(parsed.token, address, options);
}

async function judgeToken(
  token: string,
  address: string,
  { limits, identity, log, signal }: SignInOptions,
): Promise<SignedIn | SignInRefusal> {
  const leave = limits.enter();
  if (!leave) return tooMany(1);
  const bearer = (): Promise<string> => Promise.resolve(token);
  try {
    const user = await identity.read(bearer, signal);
    return { user, credentials: { key: digestOf(token), bearer, endsAt: tokenEnd(token) } };
  } catch (error) {
    limits.failed(address);
    const { refusal, reason } = describeFailure(error);
    log.warn('sign-in refused', {
      address,
      reason,
      ...(reason === 'Unauthorized' ? {} : { error: messageOf(error) }),
    });
    return refusal;
  } finally {
    leave();
  }
}

export function tooMany(waitSeconds: number): SignInRefusal {
  const message = `Not signed in: too many sign-ins at once. Try again in ${waitSeconds} s.`;
  return { status: 429, message, retryAfterSeconds: waitSeconds };
}

/** The message of an error is only logged: it names servers that a person without a session need not know. */
export function describeFailure(error: unknown): {
  readonly refusal: SignInRefusal;
  readonly reason: string;
} {
  if (isKubeError(error, 'Unauthorized')) {
    const message = 'Not signed in: the API server does not accept this token.';
    return { refusal: { status: 401, message }, reason: 'Unauthorized' };
  }
  if (error instanceof TokensNotJudged) {
    const message =
      'Not signed in: the API server does not read tokens. The administrator finds the reason in the log.';
    return { refusal: { status: 502, message }, reason: 'TokensNotJudged' };
  }
  const message =
    'Not signed in: the API server cannot be asked. The administrator finds the reason in the log.';
  return { refusal: { status: 502, message }, reason: isKubeError(error) ? error.code : 'Unknown' };
}

/** Whether the form has the value that the page has in its cookie. */
function isOfPage(form: URLSearchParams, cookie: string | undefined): boolean {
  const value = form.get('form');
  return value !== null && cookie !== undefined && isSameText(value, cookie);
}
