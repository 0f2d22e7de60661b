/** R20: when we cannot trust our own view, nothing is granted. */
import type { DenialCause } from '../../../api/grants.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ViewFacts } from '../../facts/facts.ts';
import { CLUSTER_KEY } from '../../facts/grouping.ts';
import type { PreparedPolicy } from '../../policies/prepare.ts';
import type { AskGuard, GuardInput, PolicyGuard } from '../guard.ts';

/** Clocks that differ by less are trusted. */
export const MAX_CLOCK_SKEW_SECONDS = 30;
/** One silent machine of three is a fault of that machine, not of our view. */
const MIN_UNKNOWN = 3;

export const viewFresh: PolicyGuard = {
  id: 'view-fresh',
  reasons: ['WatchStale'],
  proof: { promise: 'an act with a stale view', seed: 1 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkView,
};

export const apiErrors: PolicyGuard = {
  id: 'api-errors',
  reasons: ['APIErrors'],
  proof: { promise: 'an act while apiErrors', seed: 3 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkApiErrors,
};

export const massUnknown: PolicyGuard = {
  id: 'mass-unknown',
  reasons: ['MassUnknown'],
  proof: { promise: 'an act while massUnknown', seed: 4 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  checkPolicy: checkMassUnknown,
};

export const clockTrusted: AskGuard = {
  id: 'clock-trusted',
  reasons: ['FactUnknown'],
  proof: { promise: 'an act while clockWrong', seed: 3 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: checkClock,
};

export function isClockTrusted(skewSeconds: number | undefined): boolean {
  return skewSeconds !== undefined && Math.abs(skewSeconds) <= MAX_CLOCK_SKEW_SECONDS;
}

/** A clock that differs from the API server's grants nothing; what is decided and written meanwhile has the time of the server. */
export function timeOfServer(now: Date, { clockSkewSeconds = 0 }: Pick<ViewFacts, 'clockSkewSeconds'>): Date {
  return isClockTrusted(clockSkewSeconds) ? now : new Date(+now - clockSkewSeconds * 1000);
}

function checkView({ facts }: GuardInput, { spec: { selfDoubt } }: PreparedPolicy): readonly DenialCause[] {
  const { ageSeconds } = facts.view;
  const limit = selfDoubt.maxViewAgeSeconds;
  if (ageSeconds === undefined) return [{ reason: 'WatchStale', message: 'a view is not complete', limit }];
  if (ageSeconds <= limit) return [];
  const used = Math.round(ageSeconds);
  const message = `no contact with the API server for ${used} s; at most ${limit} s are allowed`;
  return [{ reason: 'WatchStale', message, used, limit }];
}

function checkApiErrors(
  { facts }: GuardInput,
  { spec: { selfDoubt } }: PreparedPolicy,
): readonly DenialCause[] {
  const { apiErrorPercent: used } = facts.view;
  const limit = selfDoubt.apiErrorPercent;
  if (used !== undefined && used <= limit) return [];
  const message = `failed requests to the API server: ${used ?? 'unknown'} %; at most ${limit} % are allowed`;
  return [{ reason: 'APIErrors', message, limit, ...(used === undefined ? {} : { used }) }];
}

function checkMassUnknown(input: GuardInput, policy: PreparedPolicy): readonly DenialCause[] {
  const { facts } = input;
  const { massUnknownPercent, withinSeconds } = policy.spec.selfDoubt;
  const { total } = facts.group(policy.cluster.id, CLUSTER_KEY);
  const limit = Math.max(MIN_UNKNOWN, Math.ceil((total * massUnknownPercent) / 100));
  const since = facts.unknownSince(policy.spec.scope.nodeSelector);
  if (since.length < limit) return [];
  const used = mostUnknown(since, withinSeconds);
  if (used < limit) return [];
  const message = `${used} of ${total} machines became Unknown within ${withinSeconds} s; ${limit} put the view in doubt`;
  return [{ reason: 'MassUnknown', message, key: CLUSTER_KEY, used, limit }];
}

/** By the list of moments, which is the same until a machine changes: half of a large fleet may be Unknown. */
const counted = new WeakMap<readonly Date[], { readonly seconds: number; readonly most: number }>();

function mostUnknown(moments: readonly Date[], seconds: number): number {
  const known = counted.get(moments);
  if (known?.seconds === seconds) return known.most;
  const most = mostWithin(moments, seconds);
  counted.set(moments, { seconds, most });
  return most;
}

/** The largest number of these moments that one period of that length covers. */
function mostWithin(moments: readonly Date[], seconds: number): number {
  const sorted = moments.map(Number).toSorted((a, b) => a - b);
  let [most, from] = [0, 0];
  for (const [to, moment] of sorted.entries()) {
    while (moment - (sorted[from] ?? moment) > seconds * 1000) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

function checkClock({ facts }: GuardInput): readonly DenialCause[] {
  const { clockSkewSeconds, worstClockSkewSeconds = clockSkewSeconds } = facts.view;
  if (isClockTrusted(worstClockSkewSeconds)) return [];
  const limit = MAX_CLOCK_SKEW_SECONDS;
  if (isClockTrusted(clockSkewSeconds)) {
    const jumped = `clock differed from the API server's by ${worstClockSkewSeconds ?? 0} s within the last minute; at most ${limit} s are allowed`;
    return [{ reason: 'FactUnknown', message: jumped, limit, ...optional('used', worstClockSkewSeconds) }];
  }
  const used = clockSkewSeconds;
  const message = `clock differs from the API server's by ${used ?? 'unknown'} s; at most ${limit} s are allowed`;
  return [{ reason: 'FactUnknown', message, limit, ...(used === undefined ? {} : { used }) }];
}
