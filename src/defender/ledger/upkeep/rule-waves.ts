/**
 * Keeps in the ledger how far each rule is proven. It changes in the same write as the grants that it depends on, so replicas that decide at the
 * same time agree, and a process that is killed leaves both or none. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LedgerGrant, LedgerRule, RuleWaves } from '../../../api/generated/types.ts';
import type { GrantSettlement } from '../../../api/grants.ts';
import { FLEET_DEFAULT } from '../../../api/names.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { isHeard, withNextWave, withOutcome, withVersion } from '../../../rollout/rule-waves/progress.ts';
import { termsInForce } from '../../../rollout/rule-waves/terms.ts';
import {
  countsInWave,
  inForceNow,
  isProvenRule,
  machinesInWork,
  passingTime,
  ruleEntry,
  ruleOfOrigin,
  termsOf,
} from '../../../rollout/rule-waves/wave.ts';
import type { FleetFacts } from '../../facts/facts.ts';
import { LEDGER_MAXIMUM } from '../../guards/ledger-state.ts';
import type { PreparedPolicies } from '../../policies/prepare.ts';
import type { LedgerDraft } from '../draft.ts';
import { hasRoom } from './bounds.ts';

/** A rule that was not announced for so long was deleted, and gives its place to a new one when there is no other. */
const FORGOTTEN_SECONDS = 30 * 86_400;

interface RulesInput {
  readonly policies: PreparedPolicies;
  readonly now: Date;
}

interface RulesReview extends RulesInput {
  readonly facts: Pick<FleetFacts, 'modeOfRule'>;
}

/** Returns the waves of the policy for every act. Without it everything is denied, so nothing is recorded either. */
export function policyWaves({ valid }: PreparedPolicies): RuleWaves | undefined {
  return valid.find(({ name }) => name === FLEET_DEFAULT)?.spec.ruleWaves;
}

/** Brings terms and waves up to date. Returns whether anything changed. */
export function reviewRules(draft: LedgerDraft, { policies, facts, now }: RulesReview): boolean {
  const policy = policyWaves(policies);
  if (!policy) return false;
  const terms = termsInForce(draft.ruleTerms, policy, now);
  // The first terms are written with what else is written: a leader writes its epoch before anything.
  const haveChanged = draft.ruleTerms !== undefined && !isDeepStrictEqual(terms, draft.ruleTerms);
  draft.ruleTerms = terms;
  const passed = Object.entries(draft.rules ?? {}).filter(([rule, entry]) => {
    const judged = termsOf(entry, terms.inForce);
    const at = isProvenRule(entry)
      ? undefined
      : passingTime({ rule, entry, ledger: draft, terms: judged, now });
    if (at === undefined || at > now) return false;
    setRule(draft, rule, withNextWave(entry, judged.waves.length, now));
    return true;
  });
  const deleted = Object.keys(draft.rules ?? {}).filter(
    (rule) => facts.modeOfRule?.(rule) === 'Absent' && isOver(draft, rule, now),
  );
  if (deleted.length > 0) draft.rules = without(draft.rules, deleted);
  return haveChanged || passed.length + deleted.length > 0;
}

/**
 * Tells whether nothing depends on the record of a deleted rule. It stays for a day at least, and for its soak: a rule that is deleted and
 * created again does not repair one more machine each time.
 */
function isOver(draft: LedgerDraft, rule: string, now: Date): boolean {
  const entry = ruleEntry(draft, rule);
  if (!entry || isHeard(entry, now) || machinesInWork(draft.grants, rule, now).length > 0) return false;
  const { endedAt, opensAt, terms } = entry;
  const soaked = endedAt === undefined ? now : secondsAfter(new Date(endedAt), terms.soakSeconds);
  return soaked <= now && (opensAt === undefined || new Date(opensAt) <= now);
}

function without(rules: LedgerDraft['rules'], names: readonly string[]): NonNullable<LedgerDraft['rules']> {
  return Object.fromEntries(Object.entries(rules ?? {}).filter(([name]) => !names.includes(name)));
}

/** Records a version of a rule when it appears, so that it is judged by what is in force then and not when it first acts. */
export function recordVersion(
  draft: LedgerDraft,
  { rule, digest }: { readonly rule: string; readonly digest: string },
  { policies, now }: RulesInput,
): void {
  const policy = policyWaves(policies);
  if (!policy) return;
  const before = ruleEntry(draft, rule);
  const inForce = inForceNow(draft.ruleTerms, policy);
  const next = withVersion(before, digest, { inForce, now });
  const room = roomFor(draft.rules, rule, now);
  if ((next === before && isHeard(before, now)) || !room) return;
  const others = without(draft.rules, room.instead === undefined ? [] : [room.instead]);
  draft.rules = { ...others, [rule]: { ...next, heardAt: now.toISOString() } };
  draft.changed = true;
}

/** Records the version of a repair that is granted. One that was proven acts as such, whichever version is the current one. */
export function recordAct(draft: LedgerDraft, grant: LedgerGrant, input: RulesInput): void {
  const rule = ruleOfOrigin(grant.holder.origin);
  const { ruleDigest: digest } = grant;
  if (rule === undefined || digest === undefined || !countsInWave(grant)) return;
  if (ruleEntry(draft, rule)?.proven.includes(digest)) return;
  recordVersion(draft, { rule, digest }, input);
}

export interface SettledRepair {
  readonly machine: string;
  readonly entry: LedgerGrant;
  readonly settlement: Pick<GrantSettlement, 'outcome' | 'handedOff'>;
}

/** Counts the end of a repair. One that people took over has not healed the machine. */
export function recordRepair(
  draft: LedgerDraft,
  { machine, entry: grant, settlement }: SettledRepair,
  { policies, now }: RulesInput,
): void {
  const rule = ruleOfOrigin(grant.holder.origin);
  const policy = policyWaves(policies);
  const entry = rule === undefined ? undefined : ruleEntry(draft, rule);
  if (rule === undefined || !entry || !policy || !countsInWave(grant)) return;
  const outcome = settlement.handedOff ? 'Failed' : settlement.outcome;
  const hasBegun = outcome !== 'Unused' || grant.state === 'Started';
  const ended = { machine, digest: grant.ruleDigest, outcome, hasBegun };
  setRule(draft, rule, withOutcome(entry, ended, { inForce: inForceNow(draft.ruleTerms, policy), now }));
}

function setRule(draft: LedgerDraft, rule: string, entry: LedgerRule): void {
  draft.rules = { ...draft.rules, [rule]: entry };
}

export interface RuleRoom {
  /** The rule that leaves, because it was not heard of for long. */
  readonly instead?: string;
}

/** Returns the room for a rule; undefined: there is none. Rules that exist never leave, because they would begin again. */
export function roomFor(rules: LedgerDraft['rules'], rule: string, now: Date): RuleRoom | undefined {
  if (hasRoom(rules ?? {}, rule, LEDGER_MAXIMUM.rules)) return {};
  const [oldest] = Object.entries(rules ?? {})
    .filter(([, { heardAt }]) => secondsAfter(new Date(heardAt), FORGOTTEN_SECONDS) <= now)
    .toSorted(([, a], [, b]) => Date.parse(a.heardAt) - Date.parse(b.heardAt));
  return oldest && { instead: oldest[0] };
}
