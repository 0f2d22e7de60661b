/**
 * Keeps the tokens of GitHub Apps in memory: one for each App and installation, however many Pipelines use it. A token is renewed before
 * it ends, and a host that gives none is asked again after a while.
 */
import { optional } from '../../../kube/objects/optional.ts';
import {
  type BackoffLimits,
  type BackoffState,
  backOffAfterError,
  NO_ERRORS,
} from '../../../kube/process/backoff.ts';
import type { Clock } from '../../../os/clock.ts';
import { whenAborted } from '../../../os/deadline.ts';
import type { GitHostProject } from '../git-host.ts';
import { HostCallError, networkFailure, type SendFailure } from '../outcome.ts';
import type { HostAnswer, HostRequest, SendOptions } from '../send.ts';
import { type AppCredential, credentialKey, type HostCredential } from './credential.ts';
import {
  type InstallationToken,
  installationTokenRequest,
  readInstallationToken,
  TOKEN_TASK,
} from './installation-token.ts';

export interface TokenTarget {
  readonly project: GitHostProject;
  readonly credential: HostCredential;
  readonly ca?: string;
}

export interface HostTokens {
  /** Returns the token to send. Rejects with HostCallError while the host gives none, or when the signal is aborted. */
  get(target: TokenTarget, signal: AbortSignal): Promise<string>;
  /**
   * Notes that the host refused a token. Returns true for the token of an App, which may have been revoked since: the next one is
   * another, and worth a try.
   */
  refused(token: string): boolean;
  /** Ends requests. */
  close(): void;
}

export interface HostTokensOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly send: (request: HostRequest, options: SendOptions) => Promise<HostAnswer>;
}

/** The time in which a call with the token has to reach the host: a fetch takes two minutes at most. */
const RENEW_BEFORE_MS = 300_000;
/** A token that is refused sooner after its request was not revoked: the App lacks a right, and another token would, too. */
const FRESH_MS = 60_000;
const LIMITS: BackoffLimits = { firstMs: 2000, longestMs: 300_000, stableMs: Number.POSITIVE_INFINITY };

/** Keys that were replaced do not stay in memory. */
const UNUSED_MS = 7_200_000;

interface KeptToken {
  token?: IssuedToken;
  failure?: SendFailure;
  backoff: BackoffState;
  request?: Promise<string>;
  usedAtMs: number;
}

interface IssuedToken {
  readonly text: string;
  readonly fromMs: number;
  readonly renewAtMs: number;
  readonly endsAtMs: number;
}

export function createHostTokens({ clock, random, send }: HostTokensOptions): HostTokens {
  const kept = new Map<string, KeptToken>();
  const closing = new AbortController();
  return {
    async get(target, signal) {
      signal.throwIfAborted();
      const { credential } = target;
      return credential.type === 'Token' ? credential.token : await appToken(target, credential, signal);
    },
    refused(text) {
      const own = [...kept.values()].find(({ token }) => token?.text === text);
      if (!own?.token) return false;
      const isFresh = clock.monotonicMs() - own.token.fromMs < FRESH_MS;
      // A fresh one is kept: the host would be asked for another with every call.
      if (!isFresh) delete own.token;
      return !isFresh;
    },
    close: () => closing.abort(new Error('sync is ending')),
  };

  async function appToken(target: TokenTarget, app: AppCredential, signal: AbortSignal): Promise<string> {
    const own = keptFor(target, app);
    if (own.token && clock.monotonicMs() < own.token.renewAtMs) return own.token.text;
    try {
      return await orAborted(own.request ?? requestUnlessDelayed(own, target, app), signal);
    } catch (error) {
      // A host that fails for some minutes still accepts the token before.
      if (!signal.aborted && own.token && clock.monotonicMs() < own.token.endsAtMs) return own.token.text;
      throw error;
    }
  }

  function keptFor({ project, ca }: TokenTarget, app: AppCredential): KeptToken {
    const key = JSON.stringify([project.base, ca, credentialKey(app)]);
    const nowMs = clock.monotonicMs();
    const own = kept.get(key) ?? { backoff: NO_ERRORS, usedAtMs: nowMs };
    own.usedAtMs = nowMs;
    kept.set(key, own);
    for (const [other, { usedAtMs }] of kept) if (nowMs - usedAtMs > UNUSED_MS) kept.delete(other);
    return own;
  }

  async function requestUnlessDelayed(
    own: KeptToken,
    target: TokenTarget,
    app: AppCredential,
  ): Promise<string> {
    const { atMs, delayMs } = own.backoff;
    if (own.failure && clock.monotonicMs() < atMs + delayMs) throw new HostCallError(own.failure);
    own.request = requestToken(own, target, app);
    return await own.request;
  }

  /** Several callers wait for one request, so none of them ends it. It has a limit of its own. */
  async function requestToken(own: KeptToken, target: TokenTarget, app: AppCredential): Promise<string> {
    try {
      const found = await exchange(target, app);
      if ('reason' in found) throw noteFailure(own, found);
      own.token = issued(found, clock.monotonicMs());
      own.backoff = NO_ERRORS;
      delete own.failure;
      return found.token;
    } finally {
      delete own.request;
    }
  }

  async function exchange(
    { project, ca }: TokenTarget,
    app: AppCredential,
  ): Promise<InstallationToken | SendFailure> {
    const request = installationTokenRequest(project, app, clock.now());
    const { signal } = closing;
    try {
      const answer = await send(request, { clock, signal, ...optional('ca', ca) });
      return readInstallationToken(answer, { project, app, now: clock.now() });
    } catch (error) {
      return networkFailure(error, project, TOKEN_TASK);
    }
  }

  function noteFailure(own: KeptToken, failure: SendFailure): HostCallError {
    const { retryAfterSeconds } = failure;
    const now = { atMs: clock.monotonicMs(), random: random() };
    own.backoff = backOffAfterError(own.backoff, { ...now, retryAfterSeconds }, LIMITS);
    own.failure = failure;
    return new HostCallError(failure);
  }
}

function issued({ token, lifetimeMs }: InstallationToken, fromMs: number): IssuedToken {
  // A host that issues shorter ones is asked at half of their time.
  const usedForMs = Math.max(lifetimeMs - RENEW_BEFORE_MS, lifetimeMs / 2);
  return { text: token, fromMs, renewAtMs: fromMs + usedForMs, endsAtMs: fromMs + lifetimeMs };
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = whenAborted(signal, reject);
  try {
    return await Promise.race([work, promise]);
  } finally {
    stop();
  }
}
