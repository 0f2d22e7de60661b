/**
 * One wave of a rule: how many machines it may repair, whether another one may begin, and whether the wave has passed. The ledger holds
 * what is counted here. Pure.
 */
import type { LedgerGrant, LedgerRule, LedgerRuleTerms, RuleWaves } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { secondsAfter } from '../../os/dates.ts';
import { resolveIntOrPercent } from '../int-or-percent.ts';
import { strictest } from './terms.ts';

const ORIGIN = 'NodeRemedier/';

/** Returns the rule that a holder acts for, if it acts for one. */
export function ruleOfOrigin(origin: string | undefined): string | undefined {
  return origin?.startsWith(ORIGIN) ? origin.slice(ORIGIN.length) : undefined;
}

/** Tells whether an act of a rule counts in its waves. A hand-off to people changes nothing on a machine. */
export function countsInWave({ action }: { readonly action: string }): boolean {
  return action !== 'HandOff';
}

export interface RulesOfLedger {
  readonly rules?: Readonly<Record<string, LedgerRule>>;
  readonly ruleTerms?: LedgerRuleTerms;
  readonly grants: Readonly<Record<string, LedgerGrant>>;
}

export function isProvenRule({ proven, digest }: LedgerRule): boolean {
  return proven.includes(digest);
}

export interface WaveState {
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly limit: number;
  readonly since: string;
  readonly succeeded: number;
  readonly failed: number;
  /** Machines with a repair of the rule in work, of any version of it. */
  readonly inWork: readonly string[];
  /** How many repairs may fail, if all machines of the wave are repaired. */
  readonly tolerated: number;
  readonly minSuccessPercent: number;
  /** When a repair may begin after one that proved nothing. */
  readonly opensAt?: Date;
  /** When the wave is over, if no other repair begins. Absent: something is in work, or too few succeeded. */
  readonly passesAt?: Date;
}

export interface WaveInput {
  readonly rule: string;
  readonly entry: LedgerRule;
  readonly ledger: RulesOfLedger;
  /** The policy, where it is known: a tighter number of it is in force before the ledger has it. */
  readonly policy?: RuleWaves;
  /** Machines of the cluster that were Ready once. */
  readonly machines: number;
  readonly now: Date;
}

export function waveOf(input: WaveInput): WaveState {
  const { rule, entry, ledger, machines, now } = input;
  const terms = termsOf(entry, inForceNow(ledger.ruleTerms, input.policy ?? entry.terms));
  const { waves, soakSeconds, minSuccessPercent } = terms;
  const amount = waves[Math.min(entry.wave, waves.length) - 1] ?? 1;
  // A wave of none would never end.
  const limit = Math.max(1, resolveIntOrPercent(amount, machines));
  const inWork = machinesInWork(ledger.grants, rule, now);
  const failed = entry.failed.length + entry.moreFailed;
  const passing = passingTime({ ...input, terms });
  const latest = secondsAfter(now, soakSeconds);
  const opensAt = entry.opensAt === undefined ? undefined : earlier(new Date(entry.opensAt), latest);
  return {
    number: Math.min(entry.wave, waves.length),
    of: waves.length,
    limit,
    since: entry.since,
    succeeded: entry.succeeded,
    failed,
    inWork,
    tolerated: Math.floor((limit * (100 - minSuccessPercent)) / 100),
    minSuccessPercent,
    ...(opensAt && opensAt > now ? { opensAt } : {}),
    ...(passing ? { passesAt: passing } : {}),
  };
}

/** The terms in force when this version of the rule appeared, and those that were tightened since then. */
export function termsOf(entry: LedgerRule, inForce: RuleWaves): RuleWaves {
  return strictest(inForce, entry.terms);
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

/** A grant that lapsed permits nothing. One that is past its end and was started may still be at work. */
export function machinesInWork(grants: RulesOfLedger['grants'], rule: string, now: Date): readonly string[] {
  return Object.entries(grants)
    .filter(([, grant]) => isInFlight(grant) && countsInWave(grant))
    .filter(([, { holder }]) => ruleOfOrigin(holder.origin) === rule)
    .filter(([, { state, notAfter }]) => state !== 'Granted' || Date.parse(notAfter) > +now)
    .map(([machine]) => machine)
    .toSorted();
}

export interface PassingInput extends Pick<WaveInput, 'rule' | 'entry' | 'ledger' | 'now'> {
  readonly terms: RuleWaves;
}

/** Returns when the wave passes by what is known; undefined: a repair is in work, none succeeded, or too few did. */
export function passingTime({ rule, entry, ledger, terms, now }: PassingInput): Date | undefined {
  const { succeeded, failed, moreFailed, endedAt } = entry;
  const ended = succeeded + failed.length + moreFailed;
  const areEnough = succeeded > 0 && succeeded * 100 >= terms.minSuccessPercent * ended;
  if (!areEnough || endedAt === undefined) return undefined;
  if (machinesInWork(ledger.grants, rule, now).length > 0) return undefined;
  const passing = secondsAfter(new Date(endedAt), terms.soakSeconds);
  const opening = entry.opensAt === undefined ? passing : new Date(entry.opensAt);
  return opening > passing ? opening : passing;
}

export type WaveVerdict =
  | { readonly permitted: true }
  | {
      readonly permitted: false;
      readonly because: string;
      readonly isFailed: boolean;
      readonly until?: Date;
    };

/** Decides whether the rule may begin a repair of a machine. One that is in the wave already may go on: the ladder continues. */
export function mayBegin(machine: string, entry: LedgerRule, wave: WaveState): WaveVerdict {
  if (entry.failed.includes(machine)) return { permitted: true };
  const used = machinesInWave(entry, wave, machine);
  if (wave.failed > wave.tolerated) return { permitted: false, because: failedText(wave), isFailed: true };
  if (wave.opensAt) {
    const because = `a repair that proved nothing ended before, so the next may begin at ${wave.opensAt.toISOString()}`;
    return { permitted: false, because, isFailed: false, until: wave.opensAt };
  }
  if (used < wave.limit) return { permitted: true };
  return { permitted: false, because: fullText(wave, used), isFailed: false, ...untilOf(wave) };
}

/** Counts the machines that the wave has repaired or is repairing, besides one that asks. */
export function machinesInWave({ failed }: LedgerRule, wave: WaveState, besides = ''): number {
  const working = wave.inWork.filter((name) => name !== besides && !failed.includes(name));
  return wave.succeeded + wave.failed + working.length;
}

function untilOf({ passesAt }: WaveState): { readonly until?: Date } {
  return passesAt ? { until: passesAt } : {};
}

export function failedText({ failed, succeeded, minSuccessPercent }: WaveState): string {
  return `${failed} of ${failed + succeeded} repairs failed, and at least ${minSuccessPercent} % must succeed: change or revert the rule`;
}

/** Describes the wave for people: its numbers, and what is next. */
export function waveText(wave: WaveState, used: number): string {
  if (wave.failed > wave.tolerated) return failedText(wave);
  const { limit, succeeded, failed, passesAt, opensAt } = wave;
  const counts = `${used} of at most ${limit} machines, ${succeeded} repairs succeeded, ${failed} failed`;
  if (opensAt) return `${counts}; the next repair may begin at ${opensAt.toISOString()}`;
  return passesAt ? `${counts}; it passes at ${passesAt.toISOString()} if none fails until then` : counts;
}

function fullText({ limit, passesAt, inWork }: WaveState, used: number): string {
  const full = `${used} of at most ${limit} machines`;
  if (passesAt) return `${full}; the next wave begins at ${passesAt.toISOString()}`;
  const [first] = inWork;
  if (first === undefined) return `${full}; too few repairs succeeded`;
  return `${full}; in work: ${inWork.slice(0, 3).join(', ')}${inWork.length > 3 ? ` and ${inWork.length - 3} more` : ''}`;
}

export function ruleEntry({ rules }: Pick<RulesOfLedger, 'rules'>, rule: string): LedgerRule | undefined {
  return ownValue(rules ?? {}, rule);
}

/** Returns what is in force for a rule that appears now. */
export function inForceNow(recorded: LedgerRuleTerms | undefined, policy: RuleWaves): RuleWaves {
  return recorded ? strictest(policy, recorded.inForce) : policy;
}
