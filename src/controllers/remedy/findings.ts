/** Keeps what each rule found on each machine, and since when by our own clock: in memory, filled again after a start. */

import type { RemedyWait } from '../../api/status/rule-waits.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsBetween } from '../../os/dates.ts';
import type { RuleOutcome } from '../../rules/compiled-rule.ts';
import type { RuleResult } from '../../rules/explain.ts';
import { MAX_CHANGES } from './case/flap.ts';

export interface RemedyFinding {
  readonly outcome: RuleOutcome;
  readonly because: string;
  /** When the fault began; it stays until the fault has been away for `clearSeconds`. */
  readonly since?: Date;
  /** Whether we observed the beginning, or it was recorded. */
  readonly isSinceKnown: boolean;
  /** When the conditions became true last: later than `since` if the fault was away for less than `clearSeconds`. */
  readonly matchedSince?: Date;
  /** When this process first found the conditions true; kept as long as `since`. */
  readonly detectedAt?: Date;
  /** Since when the conditions are false. */
  readonly clearSince?: Date;
  /** Whether the conditions were true when that was known last. */
  readonly isFaulty?: boolean;
  /** When the conditions became true or false, as far as this process observed it; the oldest one first. */
  readonly changes?: readonly Date[];
  /** Since when the result is Indeterminate; absent: it is known. */
  readonly unknownSince?: Date;
  /** Why there is no job. */
  readonly wait?: RemedyWait;
  /** When the wait got its reason. */
  readonly waitSince?: Date;
}

export interface FindingInput {
  readonly before: RemedyFinding | undefined;
  readonly result: RuleResult;
  /** The start of the fault that was recorded before this process. */
  readonly recorded: Date | undefined;
  /** Since when the result is Indeterminate, as it was recorded before this process. */
  readonly recordedUnknown?: Date | undefined;
  readonly clearSeconds: number;
  readonly now: Date;
}

export function nextFinding(input: FindingInput): RemedyFinding {
  return { ...startedFinding(input), ...changesOf(input), ...unknownOf(input) };
}

function unknownOf({
  before,
  result,
  recordedUnknown,
  now,
}: FindingInput): Pick<RemedyFinding, 'unknownSince'> {
  if (result.outcome !== 'Indeterminate') return {};
  return { unknownSince: before ? (before.unknownSince ?? now) : (recordedUnknown ?? now) };
}

/** Counts what is known only: conditions that are unknown in between have not changed. */
function changesOf({
  before,
  result: { outcome },
  now,
}: FindingInput): Pick<RemedyFinding, 'isFaulty' | 'changes'> {
  const { isFaulty: wasFaulty, changes = NO_CHANGES } = before ?? {};
  if (outcome === 'Indeterminate') return { ...optional('isFaulty', wasFaulty), changes };
  const isFaulty = outcome !== 'NoMatch';
  const isSame = wasFaulty === undefined || wasFaulty === isFaulty;
  return { isFaulty, changes: isSame ? changes : [...changes, now].slice(-MAX_CHANGES) };
}

const NO_CHANGES: readonly Date[] = [];

function startedFinding(input: FindingInput): RemedyFinding {
  const { before, result, now } = input;
  const { outcome, because } = result;
  if (outcome === 'Match' || outcome === 'Held') return { outcome, because, ...startOf(input) };
  const kept = keptStart(before);
  if (outcome === 'Indeterminate') {
    return { outcome, because, ...kept, ...optional('matchedSince', before?.matchedSince) };
  }
  const clearSince = before?.clearSince ?? now;
  const isOver = secondsBetween(clearSince, now) >= input.clearSeconds;
  return { outcome, because, clearSince, ...(isOver ? { isSinceKnown: false } : kept) };
}

type Start = Pick<RemedyFinding, 'since' | 'isSinceKnown' | 'matchedSince' | 'detectedAt'>;

function keptStart(before: RemedyFinding | undefined): Start {
  const { since, isSinceKnown = false, detectedAt } = before ?? {};
  return { ...optional('since', since), isSinceKnown, ...optional('detectedAt', detectedAt) };
}

/**
 * Returns when the fault began. That is not known if nothing was recorded, and this process has not observed the machine without
 * the fault.
 */
function startOf({ before, recorded, now }: FindingInput): Start {
  const detectedAt = firstMatchOf(before, now);
  const known = before?.since;
  if (before && known) {
    const { isSinceKnown, matchedSince = now } = before;
    return { since: known, isSinceKnown, matchedSince, detectedAt };
  }
  const since = recorded ?? now;
  const isSinceKnown = recorded !== undefined || before !== undefined;
  return { since, isSinceKnown, matchedSince: since, detectedAt };
}

function firstMatchOf(before: RemedyFinding | undefined, now: Date): Date {
  return before?.detectedAt ?? now;
}

export interface MachineFindings {
  /** The UID of the Node of these findings. They do not apply to another Node that replaces it. */
  readonly nodeUID: string | undefined;
  /** The findings by name of the rule. */
  readonly byRule: ReadonlyMap<string, RemedyFinding>;
}

/** The findings by name of the machine. */
export type Findings = Map<string, MachineFindings>;

export function findingsOn(
  findings: Findings,
  machine: string,
  nodeUID: string | undefined,
): ReadonlyMap<string, RemedyFinding> {
  const known = findings.get(machine);
  return known && known.nodeUID === nodeUID ? known.byRule : new Map();
}

/** Returns what one rule found, by machine, in the order of their names. */
export function findingsOf(findings: Findings, rule: string): ReadonlyMap<string, RemedyFinding> {
  const found = [...findings].flatMap(([machine, { byRule }]): [string, RemedyFinding][] => {
    const finding = byRule.get(rule);
    return finding ? [[machine, finding]] : [];
  });
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
