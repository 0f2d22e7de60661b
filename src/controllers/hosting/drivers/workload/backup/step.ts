/** Decides what follows from the state of the Job with the volume of backups. Pure. */
import type { SnapshotState } from '../snapshot/state.ts';

/** `Replace`: it is deleted, and another one is created. `Settle`: what it has achieved is recorded. `Fail`: the one that was asked for never succeeds. */
export type BackupStep = 'Wait' | 'Replace' | 'Settle' | 'Fail';

export interface FoundTask {
  readonly state: SnapshotState;
  /** Whether it was created for what is asked for now. */
  readonly isAsked: boolean;
  /** Whether both take a backup, or both are drills. */
  readonly isSameKind: boolean;
  /** Whether it has been blocked for long. */
  readonly isLate: boolean;
}

/** One of the same kind with other options or images is of no use; one of another kind has its end. */
export function backupStep({ state, isAsked, isSameKind, isLate }: FoundTask): BackupStep {
  if (state.type === 'Taken') return 'Settle';
  const mayEnd = state.type === 'Running' || (state.type === 'Blocked' && !isLate);
  if (mayEnd) return isSameKind && !isAsked ? 'Replace' : 'Wait';
  return isAsked ? 'Fail' : 'Replace';
}

/** A restore that failed stays for that long, with the log of its pod. */
const RETRY_MS = 300_000;

/** Tells whether a restore that failed is tried again. One whose time was edited is. */
export function isRestoreOver(state: SnapshotState, createdAt: string | undefined, now: Date): boolean {
  if (state.type !== 'Failed') return false;
  return !(+now - Date.parse(createdAt ?? '') < RETRY_MS);
}
