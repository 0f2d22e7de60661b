/**
 * Times in the ledger after a clock went back. A moment in the future was written by a clock that was wrong, the API server's
 * too: an act would count, a breaker stay open and a recovery last until that moment. It becomes now. Pure.
 */
import type { LedgerRate, LedgerRule } from '../../../api/generated/types.ts';
import { MAX_CLOCK_SKEW_SECONDS } from '../../guards/view/self-doubt.ts';
import type { LedgerDraft } from '../draft.ts';

/** Returns whether a time was in the future. */
export function correctFutureTimes(draft: LedgerDraft, now: Date): boolean {
  const changes = [
    ...changeAll(draft.grants, (grant) => {
      const aheadMs = ahead(grant.settledAt, now);
      return aheadMs > 0 ? { ...grant, settledAt: now.toISOString() } : grant;
    }),
    ...changeAll(draft.breakers, (breaker) => {
      const { since, closesAt } = breaker;
      const aheadMs = ahead(since, now);
      if (aheadMs <= 0) return breaker;
      const closes = closesAt === undefined ? {} : { closesAt: earlier(closesAt, aheadMs) };
      return { ...breaker, since: earlier(since, aheadMs), ...closes };
    }),
    ...changeAll(draft.approvals, (approval) => {
      const aheadMs = ahead(approval.at, now);
      const { at, until } = approval;
      return aheadMs <= 0
        ? approval
        : { ...approval, at: earlier(at, aheadMs), until: earlier(until, aheadMs) };
    }),
    ...changeAll(draft.rates, (rate) => {
      const aheadMs = aheadOf(startOfLastBucketMs(rate), now);
      return aheadMs <= 0 ? rate : { ...rate, firstBucketAt: earlier(rate.firstBucketAt, aheadMs) };
    }),
  ];
  const rules = { ...draft.rules };
  if (changeAll(rules, (rule) => withoutFuture(rule, now)).length > 0) {
    draft.rules = rules;
    changes.push('rules');
  }
  if (ahead(draft.recoveringSince, now) <= 0) return changes.length > 0;
  draft.recoveringSince = now.toISOString();
  return true;
}

/** A soak would last until then. `opensAt` may be later than now, by the soak at most: `waveOf` sees to it. */
function withoutFuture(rule: LedgerRule, now: Date): LedgerRule {
  const isAhead = [rule.endedAt, rule.heardAt].some((time) => ahead(time, now) > 0);
  const endedAt = rule.endedAt === undefined ? {} : { endedAt: now.toISOString() };
  return isAhead ? { ...rule, heardAt: now.toISOString(), ...endedAt } : rule;
}

function startOfLastBucketMs({ firstBucketAt, bucketSeconds, counts }: LedgerRate): number {
  return Date.parse(firstBucketAt) + (counts.length - 1) * bucketSeconds * 1000;
}

/** 0: not in the future. */
function ahead(time: string | undefined, now: Date): number {
  return time === undefined ? 0 : aheadOf(Date.parse(time), now);
}

function aheadOf(timeMs: number, now: Date): number {
  const aheadMs = timeMs - +now;
  return aheadMs > MAX_CLOCK_SKEW_SECONDS * 1000 ? aheadMs : 0;
}

function earlier(time: string, ms: number): string {
  return new Date(Date.parse(time) - ms).toISOString();
}

/** Returns the keys of those that changed. */
function changeAll<T>(map: Record<string, T>, change: (value: T) => T): readonly string[] {
  const changed: string[] = [];
  for (const [key, value] of Object.entries(map)) {
    const next = change(value);
    if (next === value) continue;
    map[key] = next;
    changed.push(key);
  }
  return changed;
}
