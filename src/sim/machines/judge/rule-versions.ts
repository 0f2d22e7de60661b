/**
 * The rule of a run in which it changes every 18 hours: what each version really did. A second machine before the first one was healed, and
 * stayed so, breaks the promise of the first wave. What the ledger counts is not read.
 */
import type { GrantAsk } from '../../../api/grants.ts';
import { LIMITS } from '../../policies.ts';

const VERSION_MS = 18 * 3_600_000;
/** The clock of the Defender may be wrong by less. */
const SLACK_MS = 120_000;
const SOAK_MS = LIMITS.soakSeconds * 1000 - SLACK_MS;

export interface RuleVersions {
  readonly startMs: number;
  readonly acts: RuleAct[];
}

interface RuleAct {
  readonly version: string;
  readonly machine: string;
  readonly beganMs: number;
  healedMs: number;
}

export function createRuleVersions(startMs: number): RuleVersions {
  return { startMs, acts: [] };
}

export function versionAt({ startMs }: RuleVersions, nowMs: number): string {
  return `version-${Math.floor((nowMs - startMs) / VERSION_MS)}`;
}

export function beginRuleAct(
  { acts }: RuleVersions,
  { machine, ruleDigest: version }: GrantAsk,
  beganMs: number,
): void {
  if (version !== undefined) acts.push({ version, machine, beganMs, healedMs: Number.POSITIVE_INFINITY });
}

export function endRuleAct({ acts }: RuleVersions, machine: string, healedMs: number): void {
  const last = acts.findLast((act) => act.machine === machine);
  if (last && last.healedMs === Number.POSITIVE_INFINITY) last.healedMs = healedMs;
}

/** Tells whether the act is one too many. A ledger that was lost forgets which machines were repaired; one that was restored knows what passed. */
export function isBeyondFirstWave(
  { acts }: RuleVersions,
  { machine, ruleDigest: version }: GrantAsk,
  { nowMs, lostMs }: { readonly nowMs: number; readonly lostMs: number },
): boolean {
  if (version === undefined) return false;
  const own = acts.filter((act) => act.version === version);
  const others = own.filter((act) => act.machine !== machine && act.beganMs > lostMs);
  return others.length > 0 && !own.some(({ healedMs }) => healedMs + SOAK_MS <= nowMs);
}
