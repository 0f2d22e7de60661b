/** Summarizes a reconcile of one cluster for promotion and for people. Pure. */

import {
  DELETES_HELD,
  FOREIGN_FINALIZER,
  isPausedReason,
  REPLACEMENT_HELD,
  UNIT_NOT_READY,
  UNIT_PAUSED,
} from '../../api/status/sync-words.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type ClusterReport, type WorkReport } from '../cluster-report.ts';
import { sourceText } from '../rendered.ts';
import type { ObjectOutcome } from './apply-steps.ts';
import type { ObjectPlan, PausedPart, TargetPlan, WaitingUnit } from './plan.ts';
import { holdHint } from './prune/hold-hint.ts';
import { AFTER_DEPENDENTS, type WaitingObject } from './prune/prune.ts';
import type { SyncResult } from './sync-cluster.ts';

type Failure = WorkReport['failures'][number];

const MAX_FAILURES = 20;
const ALL_MATCH = 'every object matches git';

export interface SyncSummary {
  readonly work: WorkReport;
  /** Tells when to reconcile again without a change: an object waits, failed in a retryable way, or was only marked. */
  readonly requeue: 'at once' | 'later' | 'no';
}

export function summarizeSync(digest: string, { plan, outcomes, pruned }: SyncResult): SyncSummary {
  const unwritten = failuresIn(plan, outcomes);
  // A watch reports when the other unit is ready, so nothing is tried again until then.
  const inOrder = unwritten.filter(waitsForUnit);
  const failures = unwritten.filter((each) => !waitsForUnit(each));
  const unfinished = pruned.waiting.filter(
    ({ reason }) => reason !== DELETES_HELD && !isPausedReason(reason),
  );
  const waiting = unfinished.filter(({ keptByOthers }) => !keptByOthers).map(failureOfWaiting);
  const kept = keptObjects(unfinished);
  const paused = pausedObjectsIn(plan);
  const total = plan.objects.length;
  const differing = (plan.paused ?? []).reduce((sum, part) => sum + part.differing, 0);
  const objects = {
    total,
    applied: total - unwritten.length - differing,
    pruned: pruned.deleted,
    failed: failures.length,
  };
  const failed = failures.map(({ failure }) => failure);
  const later = inOrder.map(({ failure }) => failure);
  const shown = [...failed, ...waiting, ...later, ...paused, ...kept].slice(0, MAX_FAILURES);
  const state = stateOf(plan, failures, waiting) ?? appliedState(kept);
  return {
    work: { digest, objects, failures: shown, ...withUnmatchedPauses(state, plan) },
    requeue: requeueAfter(failures.length + unfinished.length, pruned),
  };
}

function failureOfWaiting({ object, unit, reason, message }: WaitingObject): Failure {
  return { object, unit, reason, message };
}

/** Lists the objects that finalizers of others keep: first those that have the finalizers, then those that wait for them. */
function keptObjects(unfinished: readonly WaitingObject[]): readonly Failure[] {
  const rank = ({ reason }: Failure): number => (reason === FOREIGN_FINALIZER ? 0 : 1);
  return unfinished
    .filter(({ keptByOthers }) => keptByOthers)
    .map(failureOfWaiting)
    .toSorted((a, b) => rank(a) - rank(b) || byCode(a.object, b.object));
}

function appliedState(kept: readonly Failure[]): WorkState {
  const [first] = kept;
  const rest = first ? `; no commit waits for what others keep: ${textOf(first, kept.length)}` : '';
  return { state: 'Applied', reason: 'Applied', message: `${ALL_MATCH}${rest}` };
}

/** Names the pauses that pause nothing. The message comes after what is more urgent: nothing waits for it. */
function withUnmatchedPauses(state: WorkState, { unmatchedPauses = [] }: TargetPlan): WorkState {
  if (unmatchedPauses.length === 0) return state;
  const names = unmatchedPauses.join(', ');
  return {
    ...state,
    message: `${state.message}; spec.pauses names objects that neither git nor the inventory lists: ${names}. Correct the names`,
  };
}

function requeueAfter(
  unfinished: number,
  { marked, deleted, waiting }: SyncResult['pruned'],
): SyncSummary['requeue'] {
  const isNextUnitDue = deleted > 0 && waiting.some(({ reason }) => reason === AFTER_DEPENDENTS);
  if (marked > 0 || isNextUnitDue) return 'at once';
  return unfinished > 0 ? 'later' : 'no';
}

interface FailedObject {
  readonly failure: Failure;
  readonly retryable: boolean;
}

function waitsForUnit({ failure }: FailedObject): boolean {
  return failure.reason === UNIT_NOT_READY;
}

function failuresIn(plan: TargetPlan, outcomes: ReadonlyMap<string, ObjectOutcome>): FailedObject[] {
  return plan.objects
    .flatMap((object) => failureOf(object, outcomes.get(objectKey(object.id))) ?? [])
    .toSorted((a, b) => byCode(a.failure.object, b.failure.object));
}

/** Lists what differs from git, or would be deleted, and is paused. */
function pausedObjectsIn({ objects, prune }: TargetPlan): Failure[] {
  const removed = prune.map(({ entry, ...plan }) => ({ ...plan, id: entry, unit: entry.unit }));
  return [...objects, ...removed]
    .filter(({ action }) => action === 'paused')
    .map(({ id, unit, because, pausedBy = UNIT_PAUSED }) => ({
      object: objectKey(id),
      unit,
      reason: pausedBy,
      message: because,
    }))
    .toSorted((a, b) => byCode(a.object, b.object));
}

function failureOf(plan: ObjectPlan, outcome: ObjectOutcome | undefined): FailedObject | undefined {
  if (plan.action === 'same' || plan.action === 'paused' || outcome?.state === 'applied') return undefined;
  const source = sourceText(plan.rendered.source);
  const suffix = source ? ` (${source})` : '';
  const which = { object: objectKey(plan.id), unit: plan.unit };
  if (outcome) {
    const { reason, message, retryable } = outcome;
    return { failure: { ...which, reason, message: `${message}${suffix}` }, retryable };
  }
  // Only `wait` has no outcome: somebody else has to act first.
  const { because, waitReason = 'Waiting' } = plan;
  return { failure: { ...which, reason: waitReason, message: `${because}${suffix}` }, retryable: true };
}

type WorkState = Pick<WorkReport, 'state' | 'reason' | 'message' | 'held' | 'blocker'>;

/**
 * Returns the most urgent state, in the order of what a person has to do: a hold, a permanent failure, unfinished work, what is
 * paused. Undefined if none of them applies.
 */
function stateOf(
  { holds, prune, paused = [], waitingUnits = [] }: TargetPlan,
  failures: readonly FailedObject[],
  waiting: readonly Failure[],
): WorkState | undefined {
  const [hold] = holds;
  if (hold) {
    // The hint comes first: a status truncates the end, and a truncated digest releases nothing.
    const message = `${holdHint(hold)}; ${hold.because}${orphansAmong(prune, hold.unit)}`;
    const held = holds
      .slice(0, MAX_FAILURES)
      .map((each) => ({ unit: each.unit, planDigest: each.planDigest }));
    return { state: 'Held', reason: DELETES_HELD, message, held };
  }
  const replaced = failures.filter(({ failure }) => failure.reason === REPLACEMENT_HELD);
  if (replaced[0]) {
    const message = textOf(replaced[0].failure, replaced.length);
    return { state: 'Held', reason: REPLACEMENT_HELD, message };
  }
  const permanent = failures.find(({ retryable }) => !retryable);
  if (permanent) {
    const { failure } = permanent;
    return { state: 'Failed', reason: failure.reason, message: textOf(failure, failures.length) };
  }
  const [unfinished] = [...failures.map(({ failure }) => failure), ...waiting];
  if (unfinished) {
    const message = textOf(unfinished, failures.length + waiting.length);
    return { state: 'Applying', reason: unfinished.reason, message };
  }
  return unitWaitState(waitingUnits) ?? pausedState(paused);
}

/** A unit that waits for what a person paused is paused as well: no time ends that, and a newer commit may. */
function unitWaitState(waitingUnits: readonly WaitingUnit[]): WorkState | undefined {
  const unit = waitingUnits.find(({ pausedBy }) => pausedBy === undefined) ?? waitingUnits[0];
  if (!unit) return undefined;
  const more = waitingUnits.length > 1 ? `; and ${waitingUnits.length - 1} more units wait` : '';
  const { because, blocker, pausedBy } = unit;
  return {
    state: 'Applying',
    reason: pausedBy ?? UNIT_NOT_READY,
    message: `${because}${more}`,
    ...optional('blocker', blocker),
  };
}

function pausedState(paused: readonly PausedPart[]): WorkState | undefined {
  const [part] = paused;
  if (!part) return undefined;
  const { reason } = paused.find((each) => each.reason === UNIT_PAUSED) ?? part;
  return { state: 'Applying', reason, message: paused.map(pausedText).join('; ') };
}

function pausedText({ name, because, differing, removed }: PausedPart): string {
  const parts = [
    ...(differing > 0 ? [`${differing} objects differ from git`] : []),
    ...(removed > 0 ? [`${removed} objects wait to be deleted`] : []),
  ];
  return `${name} is paused, and ${parts.join(', ')}: ${because}`;
}

/** Counts the held objects of the unit whose entries a person deleted with the inventory. */
function orphansAmong(prune: TargetPlan['prune'], unit: string): string {
  const { length } = prune.filter(
    ({ action, entry }) => action === 'held' && entry.unit === unit && entry.found,
  );
  return length > 0 ? `; ${length} were not in the inventory` : '';
}

function textOf({ object, message }: Failure, count: number): string {
  return `${object}: ${message}${count > 1 ? `, and ${count - 1} more` : ''}`;
}

/** Returns the condition Synced. S21: it is never True without a current observation. */
export function syncedCondition(
  work: WorkReport | undefined,
  staleReason: string | undefined,
): ClusterReport['synced'] {
  if (staleReason !== undefined) return { status: 'Unknown', reason: 'Stale', message: staleReason };
  if (!work) return { status: 'Unknown', reason: 'NotLooked', message: 'not reconciled yet' };
  if (work.state === 'Applied') return { status: 'True', reason: 'Applied', message: work.message };
  return { status: 'False', reason: work.reason, message: work.message };
}

function keptInPlan({ prune }: TargetPlan): readonly Failure[] {
  return prune
    .filter(({ keptByOthers }) => keptByOthers)
    .map(({ entry, because }) => ({
      object: objectKey(entry),
      unit: entry.unit,
      reason: FOREIGN_FINALIZER,
      message: because,
    }));
}

/** Reports how far the cluster is from the commit while nothing may be written. */
export function reportObserved(digest: string, plan: TargetPlan): WorkReport {
  const differing = plan.objects.filter(({ action }) => action !== 'same');
  const total = plan.objects.length;
  const failures = differing.slice(0, MAX_FAILURES).map(({ id, unit, action, because }) => ({
    object: objectKey(id),
    unit,
    reason: 'NotWritten',
    message: `${action}: ${because}`,
  }));
  const objects = { total, applied: total - differing.length, pruned: 0, failed: 0 };
  const toPrune = plan.prune.filter(({ action, keptByOthers }) => action !== 'keep' && !keptByOthers).length;
  if (differing.length + toPrune === 0) {
    const kept = keptInPlan(plan);
    return { digest, objects, failures: kept.slice(0, MAX_FAILURES), ...appliedState(kept) };
  }
  const message = `${differing.length} objects differ from git and ${toPrune} are to be pruned; nothing is written now`;
  return { digest, objects, failures, state: 'Applying', reason: 'NotWritten', message };
}
