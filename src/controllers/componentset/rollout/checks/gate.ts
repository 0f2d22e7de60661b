/** Judges the open batch by its http and promql checks. Pure. */
import type { Check } from '../../../../api/generated/types.ts';
import { type GateResult, gateResult, nextRuns } from '../../../../rollout/checks/gate.ts';
import { comparesWithRest } from '../../../../rollout/checks/query.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import type { MemberState } from '../../machine/member-state.ts';
import type { RolloutInput, RolloutProgress } from '../input.ts';
import { isPinned } from '../start-wait.ts';

type GateInput = Pick<RolloutInput, 'set' | 'members' | 'desired' | 'now'>;

/** Returns the checks that ask others. What the builtin check finds is in the states of the machines. */
export function askedChecks({ set }: Pick<RolloutInput, 'set'>): readonly Check[] {
  return set.spec.rollout.gate.checks.filter(({ builtin }) => !builtin);
}

/** Returns the checks that judge this batch: those that compare with the rest are skipped where none is left. */
export function judgingChecks(input: GateInput, progress: RolloutProgress): readonly Check[] {
  const skipped = skippedChecks(input, progress);
  return askedChecks(input).filter(({ name }) => !skipped.has(name));
}

/**
 * Returns the names of the checks that cannot judge this batch: every machine has the version, and earlier batches were compared. Where the
 * first batch has all machines, nothing was ever compared: then the check has no result, and holds. So it does while the machines that are
 * left are out of service.
 */
export function skippedChecks(input: GateInput, progress: RolloutProgress): ReadonlySet<string> {
  const comparing = askedChecks(input).filter(({ promql }) => promql && comparesWithRest(promql.query));
  const isSkipped =
    comparing.length > 0 && restOf(input, progress).length === 0 && hasEarlier(input, progress);
  return new Set(isSkipped ? comparing.map(({ name }) => name) : []);
}

function hasEarlier({ members }: GateInput, { updateRevision, batch: open }: RolloutProgress): boolean {
  return members.some(
    ({ revision, batch }) =>
      open !== undefined && revision === updateRevision && batch !== undefined && batch < open.index,
  );
}

/** Returns the machines that do not have the version. One with a pin keeps what a person wants, so it is not compared with. */
export function restOf(
  { members, desired }: GateInput,
  { updateRevision }: RolloutProgress,
): readonly MemberState[] {
  const update = 'revision' in desired ? desired.revision : undefined;
  return members.filter((each) => each.revision !== updateRevision && !(update && isPinned(each, update)));
}

/**
 * Returns what the checks of the open batch come to. A failed check blames the batch as a whole. A check that is due is waited for: what it
 * found before a long pause, or before the controllers were down, tells nothing about now.
 */
export function batchGate(input: GateInput, progress: RolloutProgress): GateResult {
  const gates = progress.batch?.gates ?? [];
  const checks = judgingChecks(input, progress);
  const found = gateResult(gates, checks);
  const isDue = nextRuns(gates, checks, input.now).some(({ at }) => at <= input.now);
  return found.state === 'Open' && isDue ? { state: 'Waiting' } : found;
}

/** Returns why a person has to look: a check has had no result too often. */
export function unknownGateReason(input: GateInput, progress: RolloutProgress): Explanation | undefined {
  if (progress.batch?.soakUntil === undefined) return undefined;
  const gate = batchGate(input, progress);
  return gate.state === 'Inconclusive' ? { reason: 'GateInconclusive', because: gate.because } : undefined;
}

/** Describes the first check that did not pass when it last ran, also within its limits. */
export function openCheckText(input: GateInput, progress: RolloutProgress): string | undefined {
  const gates = new Map(progress.batch?.gates?.map((gate) => [gate.name, gate]));
  const found = judgingChecks(input, progress).flatMap(({ name, failureLimit, inconclusiveLimit }) => {
    const { result, message, failures = 0, inconclusive = 0 } = gates.get(name) ?? {};
    const text = `check ${name}: ${message ?? ''}`;
    if (result === 'Failed') return `${text} (failed runs: ${failures}, allowed: ${failureLimit})`;
    if (result !== 'Unknown') return [];
    return `${text} (runs without a result: ${inconclusive}, allowed: ${inconclusiveLimit})`;
  });
  return found[0];
}
