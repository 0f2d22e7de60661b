/** Decides what follows from the state of the Job with the volume of backups. Pure. */
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { ANNOTATION_TAKEN_AT } from '../names.ts';
import { DEADLINE_SECONDS } from '../snapshot/containers.ts';
import type { SnapshotState } from '../snapshot/state.ts';
import type { BackupTask } from './job.ts';

/** `Replace`: it is deleted, and another one is created. `Settle`: what it has achieved is recorded. `Fail`: the one that was asked for never succeeds. */
export type BackupStep = 'Wait' | 'Replace' | 'Settle' | 'Fail';

export interface FoundTask {
  readonly state: SnapshotState;
  /** Whether it was created for what is asked for now. */
  readonly isAsked: boolean;
  /** Whether it is of no use unless it was asked for. */
  readonly isReplaced: boolean;
  /** Whether it has been blocked for long. */
  readonly isLate: boolean;
}

/** One of the same kind with other options or images is of no use, nor is a restore while etcd serves; one of another kind has its end. */
export function isTaskReplaced(found: BackupTask | undefined, desired: BackupTask | undefined): boolean {
  return found === 'Restore' || found === desired;
}

export function backupStep({ state, isAsked, isReplaced, isLate }: FoundTask): BackupStep {
  if (state.type === 'Taken') return 'Settle';
  const mayEnd = state.type === 'Running' || (state.type === 'Blocked' && !isLate);
  if (mayEnd) return isReplaced && !isAsked ? 'Replace' : 'Wait';
  return isAsked ? 'Fail' : 'Replace';
}

/** The kubelet of a node that serves needs a few seconds. */
const GRACE_MS = 60_000;

/** Returns why a Job never ends by itself, as where its node does not answer: the hub ends the pod only when the node does. */
export function stuckReason({ metadata }: KubeObject, state: SnapshotState, now: Date): string | undefined {
  const { name, deletionTimestamp = '', annotations } = metadata;
  const why = 'look at its pod and at the node of that';
  if (+now - Date.parse(deletionTimestamp) >= GRACE_MS) {
    return `Job ${name} is being deleted since ${deletionTimestamp}: ${why}`;
  }
  const createdAt = Date.parse(annotations?.[ANNOTATION_TAKEN_AT] ?? '');
  if (state.type !== 'Running' || !(+now - createdAt >= DEADLINE_SECONDS * 1000 + GRACE_MS)) return undefined;
  return `Job ${name} has not ended ${DEADLINE_SECONDS} s after it was created: ${why}`;
}

/** A restore that failed stays for that long, with the log of its pod. */
const RETRY_MS = 300_000;

/** Tells whether a restore that failed is tried again. One whose time was edited is. */
export function isRestoreOver(state: SnapshotState, createdAt: string | undefined, now: Date): boolean {
  if (state.type !== 'Failed') return false;
  return !(+now - Date.parse(createdAt ?? '') < RETRY_MS);
}
