/** How the record of a rule changes: another version appears, a repair ends, a wave ends. Pure. */
import type { LedgerGrant, LedgerRule, RuleWaves } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { lastMoment, secondsAfter } from '../../os/dates.ts';
import { isProvenRule, termsOf } from './wave.ts';

/** How often it is written that a rule still exists. */
const HEARD_SECONDS = 86_400;
/** Enough for a revert of several commits. */
const MAX_PROVEN = 4;
/** Names that are kept, so that the ladder of a machine goes on. Others count only: their ladders wait with the rule. */
const MAX_FAILED = 64;

/**
 * Returns the record of a rule of which a version appears; the same record when it is known. A version that was proven is proven again: a revert
 * heals at once. Any other begins with wave 1, and after a version that was not proven only when that one has soaked: however often a rule
 * changes, it repairs no more machines than one version would.
 */
export function withVersion(
  before: LedgerRule | undefined,
  digest: string,
  { inForce, now }: { readonly inForce: RuleWaves; readonly now: Date },
): LedgerRule {
  if (before?.digest === digest) return before;
  const since = now.toISOString();
  const first = { wave: 1, since, heardAt: since, succeeded: 0, failed: [], moreFailed: 0, terms: inForce };
  if (!before) return { digest, proven: [], ...first };
  const terms = isProvenRule(before) ? inForce : termsOf(before, inForce);
  return { digest, proven: before.proven, ...first, terms, ...opening(before, terms) };
}

/** Kept also while a version that was proven is in between: a revert and another change do not skip the soak. */
function opening(before: LedgerRule, { soakSeconds }: RuleWaves): Pick<LedgerRule, 'opensAt'> {
  const { endedAt, opensAt } = before;
  const isTried = endedAt !== undefined && !isProvenRule(before);
  const soaked = isTried ? secondsAfter(new Date(endedAt), soakSeconds) : undefined;
  const opens = lastMoment([soaked, opensAt === undefined ? undefined : new Date(opensAt)]);
  return optional('opensAt', opens?.toISOString());
}

/** Tells whether the record need not be written again to show that the rule exists. */
export function isHeard({ heardAt }: Pick<LedgerRule, 'heardAt'>, now: Date): boolean {
  return secondsAfter(new Date(heardAt), HEARD_SECONDS) > now;
}

export interface EndedRepair {
  readonly machine: string;
  /** The version that asked for it. A grant that was rebuilt from an object has none, and proves nothing. */
  readonly digest: string | undefined;
  readonly outcome: NonNullable<LedgerGrant['outcome']>;
  /** Whether the act was permitted to begin: what is unused then may have touched the machine. */
  readonly hasBegun: boolean;
}

/**
 * Returns the record after a repair ended. What did not begin changes nothing; what is ambiguous has failed. An act that began and proves nothing,
 * because it was given up or is of another version, puts off the next one: else a rule could touch one machine after the other without a result.
 */
export function withOutcome(
  entry: LedgerRule,
  { machine, digest, outcome, hasBegun }: EndedRepair,
  { inForce, now }: { readonly inForce: RuleWaves; readonly now: Date },
): LedgerRule {
  if (!hasBegun || (digest !== undefined && entry.proven.includes(digest))) return entry;
  if (digest !== entry.digest || outcome === 'Unused') {
    const opensAt = secondsAfter(now, termsOf(entry, inForce).soakSeconds);
    return { ...entry, opensAt: opensAt.toISOString() };
  }
  const endedAt = now.toISOString();
  const failed = entry.failed.filter((name) => name !== machine);
  if (outcome === 'Succeeded') return { ...entry, succeeded: entry.succeeded + 1, failed, endedAt };
  if (failed.length < MAX_FAILED) return { ...entry, failed: [...failed, machine].toSorted(), endedAt };
  return { ...entry, moreFailed: entry.moreFailed + 1, endedAt };
}

/** Returns the record with its next wave. After the last one the version is proven. */
export function withNextWave(entry: LedgerRule, waves: number, now: Date): LedgerRule {
  const { digest, proven, terms, heardAt } = entry;
  const counts = { heardAt, succeeded: 0, failed: [], moreFailed: 0 };
  const since = now.toISOString();
  if (entry.wave < waves) return { digest, proven, wave: entry.wave + 1, since, ...counts, terms };
  const others = proven.filter((each) => each !== digest);
  return {
    digest,
    proven: [...others, digest].slice(-MAX_PROVEN),
    wave: entry.wave,
    since,
    ...counts,
    terms,
  };
}
