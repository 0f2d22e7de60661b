/** `Machine.status.faults`: since when conditions that rules ask about have been as the rules ask, by our own clock. Pure. */
import type { Machine, MachineFault } from '../../api/generated/types.ts';
import { REASON } from '../../api/patterns.ts';
import { optional } from '../../kube/objects/optional.ts';
import { firstMoment, lastMoment, secondsAfter, secondsBetween, wholeSeconds } from '../../os/dates.ts';
import {
  type CompiledRule,
  type ConditionLeaf,
  type ConditionTree,
  type FactReader,
  listLeaves,
} from '../../rules/compiled-rule.ts';
import { COMPARISONS } from '../../rules/operators.ts';

export interface RuleReader {
  readonly compiled: Pick<CompiledRule, 'conditions'>;
  readonly facts: FactReader;
}

export interface FaultsInput {
  readonly machine: Machine;
  readonly nodeUID: string | undefined;
  readonly rules: readonly RuleReader[];
  readonly now: Date;
}

const MAX_FAULTS = 8;
const REASON_TEXT = new RegExp(`^(?=.{1,64}$)${REASON.regex.slice(1)}`);
/** Two readings of one moment may differ by this much. */
const SAME_SECONDS = 5;

/** The oldest ones, by type. */
export function faultsOf(input: FaultsInput): readonly MachineFault[] {
  const { nodeUID, rules } = input;
  if (nodeUID === undefined) return [];
  const found = new Map<string, MachineFault>();
  for (const { compiled, facts } of rules) {
    for (const leaf of listLeaves(compiled.conditions)) {
      const type = leaf.ref.params['type'];
      if (typeof type !== 'string' || found.has(type) || !isStatusTrue(leaf, facts)) continue;
      const fault = faultOf({ type, leaf, facts, nodeUID }, input);
      if (fault) found.set(type, fault);
    }
  }
  return [...found.values()].toSorted(byAge).slice(0, MAX_FAULTS).toSorted(byType);
}

/**
 * Since when the conditions of a rule have been true, as far as these faults show it: where all are needed, since the last
 * one; where one is enough, since the first one.
 */
export function recordedSince(
  { compiled, facts }: RuleReader,
  faults: readonly MachineFault[],
): Date | undefined {
  return startOf(compiled.conditions, facts, faults).since;
}

interface Start {
  readonly isTrue: boolean;
  readonly since?: Date | undefined;
}

function startOf(tree: ConditionTree, facts: FactReader, faults: readonly MachineFault[]): Start {
  if ('ref' in tree) {
    const fault = faults.find(
      ({ type }) => tree.ref.fact === 'condition' && type === tree.ref.params['type'],
    );
    const since = fault?.since === undefined ? undefined : new Date(fault.since);
    return { isTrue: isLeafTrue(tree, facts), since };
  }
  const isAll = 'all' in tree;
  const starts = (isAll ? tree.all : tree.any).map((part) => startOf(part, facts, faults));
  const found = starts.filter(({ isTrue }) => isTrue).map(({ since }) => since);
  const isTrue = isAll ? starts.every((start) => start.isTrue) : starts.some((start) => start.isTrue);
  return { isTrue, since: isAll ? lastMoment(found) : firstMoment(found) };
}

function isLeafTrue({ ref, field, operator, value }: ConditionLeaf, facts: FactReader): boolean {
  return COMPARISONS[operator](facts(ref)[field], value) === true;
}

function isStatusTrue(leaf: ConditionLeaf, facts: FactReader): boolean {
  return leaf.ref.fact === 'condition' && leaf.field === 'status' && isLeafTrue(leaf, facts);
}

interface FaultReading {
  readonly type: string;
  readonly leaf: ConditionLeaf;
  readonly facts: FactReader;
  readonly nodeUID: string;
}

function faultOf(
  { type, leaf, facts, nodeUID }: FaultReading,
  { machine, now }: FaultsInput,
): MachineFault | undefined {
  const { status, reason, observedSeconds } = facts(leaf.ref);
  if (!isStatus(status)) return undefined;
  const since = typeof observedSeconds === 'number' ? secondsAfter(now, -observedSeconds) : now;
  const before = recordOf(machine, type, nodeUID);
  const isSame = before?.status === status && isNotLater(since, before.since);
  const start = isSame ? startOfRecord(before) : { since: wholeSeconds(since), transitions: next(before) };
  return { type, status, nodeUID, ...start, ...wordOf(reason) };
}

function recordOf({ status }: Machine, type: string, nodeUID: string): MachineFault | undefined {
  return status?.faults?.find((fault) => fault.type === type && fault.nodeUID === nodeUID);
}

function wordOf(reason: unknown): Pick<MachineFault, 'reason'> {
  return typeof reason === 'string' && REASON_TEXT.test(reason) ? { reason } : {};
}

function startOfRecord({ since, transitions }: MachineFault): Pick<MachineFault, 'since' | 'transitions'> {
  return { ...optional('since', since), ...optional('transitions', transitions) };
}

function next(before: MachineFault | undefined): number {
  return (before?.transitions ?? 0) + 1;
}

function isStatus(status: unknown): status is NonNullable<MachineFault['status']> {
  return status === 'True' || status === 'False' || status === 'Unknown';
}

/** After a restart the clock of the conditions is read from this record, so it never shows an earlier start. */
function isNotLater(since: Date, recorded: string | undefined): boolean {
  return recorded !== undefined && secondsBetween(new Date(recorded), since) <= SAME_SECONDS;
}

function byAge(a: MachineFault, b: MachineFault): number {
  return Date.parse(a.since ?? '') - Date.parse(b.since ?? '') || byType(a, b);
}

function byType({ type: a }: MachineFault, { type: b }: MachineFault): number {
  return a < b ? -1 : Number(a > b);
}
