/**
 * The terms that waves of rules are judged by. A tighter number is in force at once; a looser one a day later, so that a commit that
 * loosens the waves and changes a rule is judged by what was in force before it. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Amount, LedgerRuleTerms, RuleWaves } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsAfter } from '../../os/dates.ts';

/** Longer than a commit takes from the policy to the rule in one cluster, with a night in between. */
export const LOOSER_AFTER_SECONDS = 86_400;

/** Returns what is in force now, and the looser terms that are not yet. `recorded` is what the ledger holds. */
export function termsInForce(
  recorded: LedgerRuleTerms | undefined,
  { waves, soakSeconds, minSuccessPercent }: RuleWaves,
  now: Date,
): LedgerRuleTerms {
  const desired: RuleWaves = { waves, soakSeconds, minSuccessPercent };
  if (!recorded) return { inForce: desired };
  const inForce = strictest(desired, recorded.inForce);
  if (isDeepStrictEqual(inForce, desired)) return { inForce };
  const isSame = isDeepStrictEqual(recorded.looser, desired);
  const since = (isSame ? recorded.looserSince : undefined) ?? now.toISOString();
  const isDue = secondsAfter(new Date(since), LOOSER_AFTER_SECONDS) <= now;
  return isDue ? { inForce: desired } : { inForce, looser: desired, ...optional('looserSince', since) };
}

/** Returns the strictest of each part. Lists of waves that cannot be compared are replaced by the one that was there before. */
export function strictest(next: RuleWaves, before: RuleWaves): RuleWaves {
  return {
    waves: areLooser(next.waves, before.waves) ? before.waves : next.waves,
    soakSeconds: Math.max(next.soakSeconds, before.soakSeconds),
    minSuccessPercent: Math.max(next.minSuccessPercent, before.minSuccessPercent),
  };
}

/** After its last wave a rule is limited no more, so fewer waves are looser. */
function areLooser(next: readonly Amount[], before: readonly Amount[]): boolean {
  return before.some((amount, index) => {
    const other = next[index];
    return other === undefined || isLarger(other, amount);
  });
}

/** A number and a percentage cannot be compared without a fleet: one may be the larger. */
function isLarger(a: Amount, b: Amount): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a > b;
  if (typeof a === 'string' && typeof b === 'string') return Number.parseInt(a, 10) > Number.parseInt(b, 10);
  return true;
}
