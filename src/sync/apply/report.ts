/** What a pass came to, in the words of promotion. Pure. */

import { byCode } from '../../kube/objects/digest.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import type { ClusterReport, WorkReport } from '../cluster-report.ts';
import type { ObjectOutcome } from './apply-steps.ts';
import type { ObjectPlan, TargetPlan } from './plan.ts';
import type { SyncResult } from './sync-cluster.ts';

type Failure = WorkReport['failures'][number];

const MAX_FAILURES = 20;

export interface SyncSummary {
  readonly work: WorkReport;
  /** Worth another try without news: something waits, failed in a way that may pass, or was only marked. */
  readonly requeue: 'at once' | 'later' | 'no';
}

export function summarizeSync(digest: string, { plan, outcomes, pruned }: SyncResult): SyncSummary {
  const failures = failuresOf(plan, outcomes);
  const waiting = pruned.waiting.filter(({ reason }) => reason !== 'DeletesHeld');
  const total = plan.wanted.length;
  const objects = { total, applied: total - failures.length, pruned: pruned.gone, failed: failures.length };
  const shown = [...failures.map(({ failure }) => failure), ...waiting].slice(0, MAX_FAILURES);
  return {
    work: { digest, objects, failures: shown, ...stateOf(plan, failures, waiting) },
    requeue: requeueAfter(failures.length + waiting.length, pruned.marked),
  };
}

function requeueAfter(open: number, marked: number): SyncSummary['requeue'] {
  if (marked > 0) return 'at once';
  return open > 0 ? 'later' : 'no';
}

interface Failed {
  readonly failure: Failure;
  readonly passing: boolean;
}

function failuresOf(plan: TargetPlan, outcomes: ReadonlyMap<string, ObjectOutcome>): Failed[] {
  return plan.wanted
    .flatMap((entry) => failureOf(entry, outcomes.get(objectKey(entry.id))) ?? [])
    .toSorted((a, b) => byCode(a.failure.object, b.failure.object));
}

function failureOf(entry: ObjectPlan, outcome: ObjectOutcome | undefined): Failed | undefined {
  if (entry.action === 'same' || outcome?.state === 'applied') return undefined;
  const { file, construct } = entry.rendered.source;
  const source = [file, construct].filter(Boolean).join(' ');
  const at = source ? ` (${source})` : '';
  const object = objectKey(entry.id);
  if (outcome) {
    const { reason, message, passing } = outcome;
    return { failure: { object, reason, message: `${message}${at}` }, passing };
  }
  // Only `wait` has no outcome: somebody else has to move first.
  return { failure: { object, reason: 'Waiting', message: `${entry.because}${at}` }, passing: true };
}

type State = Pick<WorkReport, 'state' | 'reason' | 'message'>;

/** The hold first, as it needs a person; then what will not pass by itself; then what is on its way. */
function stateOf({ holds }: TargetPlan, failures: readonly Failed[], waiting: readonly Failure[]): State {
  const [hold] = holds;
  if (hold) {
    const message = `unit ${hold.unit}: ${hold.because}. To release it, acknowledge unit ${hold.unit} with planDigest ${hold.planDigest} in the Pipeline`;
    return { state: 'Held', reason: 'DeletesHeld', message };
  }
  const final = failures.find(({ passing }) => !passing);
  if (final) {
    return { state: 'Failed', reason: final.failure.reason, message: textOf(final.failure, failures.length) };
  }
  const [open] = [...failures.map(({ failure }) => failure), ...waiting];
  if (open) {
    return {
      state: 'Applying',
      reason: open.reason,
      message: textOf(open, failures.length + waiting.length),
    };
  }
  return { state: 'Applied', reason: 'Applied', message: 'every object is as in git' };
}

function textOf({ object, message }: Failure, count: number): string {
  return `${object}: ${message}${count > 1 ? `, and ${count - 1} more` : ''}`;
}

/** S21: never True on account of what was not seen. */
export function syncedCondition(
  work: WorkReport | undefined,
  blind: string | undefined,
): ClusterReport['synced'] {
  if (blind !== undefined) return { status: 'Unknown', reason: 'Stale', message: blind };
  if (!work) return { status: 'Unknown', reason: 'NotLooked', message: 'no pass has ended yet' };
  if (work.state === 'Applied') return { status: 'True', reason: 'Applied', message: work.message };
  return { status: 'False', reason: work.reason, message: work.message };
}

/** Nothing may be written now: how far the cluster is from the commit all the same. */
export function reportObserved(digest: string, plan: TargetPlan): WorkReport {
  const open = plan.wanted.filter(({ action }) => action !== 'same');
  const total = plan.wanted.length;
  const failures = open.slice(0, MAX_FAILURES).map(({ id, action, because }) => ({
    object: objectKey(id),
    reason: 'NotWritten',
    message: `${action}: ${because}`,
  }));
  const objects = { total, applied: total - open.length, pruned: 0, failed: 0 };
  const left = plan.left.filter(({ action }) => action !== 'keep').length;
  if (open.length + left === 0) {
    return {
      digest,
      objects,
      failures,
      state: 'Applied',
      reason: 'Applied',
      message: 'every object is as in git',
    };
  }
  const message = `${open.length} objects differ from git and ${left} should go; nothing is written now`;
  return { digest, objects, failures, state: 'Applying', reason: 'NotWritten', message };
}
