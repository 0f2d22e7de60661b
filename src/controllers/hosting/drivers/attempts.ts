/** Describes an attempt at the upkeep of etcd from its beginning to its end. Pure. Each is recorded before it begins, as one that was interrupted. */
import { optional } from '../../../kube/objects/optional.ts';
import { type BackupAttempt, INTERRUPTED } from './driver.ts';

const MAX_PROBLEM = 1000;

/** Until it ends it counts as failed, so that a crash in it is not repeated at once. It keeps the problem of the one before. */
export function begunAttempt(before: BackupAttempt | undefined, at: Date): BackupAttempt {
  const former = before?.problem === INTERRUPTED ? before.former : before?.problem;
  return { at, problem: INTERRUPTED, since: before?.since ?? at, ...optional('former', former) };
}

export function failedAttempt({ at, since = at }: BackupAttempt, problem: string): BackupAttempt {
  return { at, problem: problem.slice(0, MAX_PROBLEM), since };
}
