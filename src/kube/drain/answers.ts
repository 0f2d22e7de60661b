/** Describes what the API server answered to the eviction of a pod, and when to ask again. Pure. */

import { secondsAfter } from '../../os/dates.ts';
import { isKubeError, type KubeError, type KubeErrorCode } from '../client/errors.ts';
import type { EvictionOutcome } from '../controller/writes/evict.ts';

/**
 * Holds the answers by the UID of the pod. They are only an optimization: without them, evictions that were refused are asked for again at
 * once.
 */
export type EvictionAnswers = ReadonlyMap<string, EvictionAnswer>;

export type EvictionAnswer = { readonly kind: 'Accepted'; readonly at: Date } | RefusedEviction;

export interface RefusedEviction extends Pick<EvictionRefusal, 'reason' | 'because'> {
  readonly kind: 'Refused';
  /** The budgets that cover the pod, as `namespace/name`; empty when something else refuses. */
  readonly budgets: readonly string[];
  /** The time of the first refusal in a row. */
  readonly since: Date;
  readonly askAt: Date;
  readonly refusals: number;
}

export interface EvictionRefusal {
  readonly reason: RefusalReason;
  /** The message of the API server. */
  readonly because: string;
  readonly retryAfterSeconds?: number;
}

export type RefusalReason =
  /** A PodDisruptionBudget allows no disruption now. */
  | 'Budget'
  /** More than one budget covers the pod: the Eviction API refuses that until one of them is removed. */
  | 'SeveralBudgets'
  /** An admission webhook, missing permission, or an error of this one pod. */
  | 'Denied'
  /** The pod is not the one that was listed: the name has another UID now, or it is just being changed. */
  | 'Changed'
  | 'Overloaded';

/** The first time to wait, as in kubectl drain; it doubles, because a budget may be exhausted for hours, by hundreds of pods. */
const RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 60;

/** Returns the refusal of an outcome; undefined when the eviction is under way. */
export function refusalOfOutcome(outcome: EvictionOutcome): EvictionRefusal | undefined {
  if (outcome.evicted) return undefined;
  const { evicted: _, ...refusal } = outcome;
  return { reason: 'Budget', ...refusal };
}

const BY_CODE: Partial<Record<KubeErrorCode, RefusalReason>> = {
  Conflict: 'Changed',
  TooManyRequests: 'Denied',
  Forbidden: 'Denied',
  Invalid: 'Denied',
  ServerError: 'Denied',
  Timeout: 'Denied',
};

/**
 * Returns the refusal of an error; undefined when the error does not answer for this pod: the server cannot be reached, or does not know
 * us.
 */
export function refusalOfError(error: unknown): EvictionRefusal | undefined {
  // Without a status, no server answered.
  if (!isKubeError(error) || error.status === undefined) return undefined;
  const { code, message, retryAfterSeconds } = error;
  const reason = isOverload(error) ? 'Overloaded' : BY_CODE[code];
  if (reason === undefined) return undefined;
  return {
    reason,
    because: message,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/**
 * Tells whether the server is overloaded. The API server sends Retry-After with its own 429; an admission webhook that denies with that
 * code does not.
 */
function isOverload({ code, status, retryAfterSeconds }: KubeError): boolean {
  if (status === 502 || status === 503) return true;
  return code === 'TooManyRequests' && retryAfterSeconds !== undefined;
}

export interface AnswerContext {
  readonly budgets: readonly string[];
  readonly previous: EvictionAnswer | undefined;
  /** The time since which the budget blocks, as far as an earlier process reported it. */
  readonly knownSince: Date | undefined;
  readonly now: Date;
}

export function refusedAnswer(refusal: EvictionRefusal, context: AnswerContext): RefusedEviction {
  const { previous, knownSince, now } = context;
  const { since, refusals } =
    previous?.kind === 'Refused' ? previous : { since: knownSince ?? now, refusals: 0 };
  const backoff = Math.min(RETRY_SECONDS * 2 ** refusals, MAX_RETRY_SECONDS);
  const seconds = Math.max(backoff, refusal.retryAfterSeconds ?? 0);
  return {
    kind: 'Refused',
    ...explain(refusal, context.budgets),
    since,
    askAt: secondsAfter(now, seconds),
    refusals: refusals + 1,
  };
}

/**
 * Returns the reason with its explanation. The API server answers 500 for a pod with more than one budget: only the budgets distinguish it
 * from other errors.
 */
function explain(
  { reason, because }: EvictionRefusal,
  budgets: readonly string[],
): Pick<RefusedEviction, 'reason' | 'because' | 'budgets'> {
  if (reason === 'Denied' && budgets.length > 1) {
    const text = `more than one PodDisruptionBudget covers it (${budgets.join(', ')}): ${because}`;
    return { reason: 'SeveralBudgets', because: text, budgets };
  }
  return { reason, because, budgets: reason === 'Budget' ? budgets : [] };
}
