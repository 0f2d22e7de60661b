/** Runs checks in the background, one run at a time for each cluster and check, and keeps results until they are recorded. */
import type { Check } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import type { CheckRunner, CheckSubject } from './runner.ts';
import type { CheckRun } from './gate.ts';

export interface CheckScheduler {
  /** Starts a run, unless one is in progress. */
  start(check: Check, subject: CheckSubject): void;
  /** Results that may not be recorded yet. Counting one twice is harmless. */
  results(cluster: string): readonly CheckRun[];
  /** Drops the results up to that moment: they are recorded. */
  drop(cluster: string, check: string, upTo: Date): void;
  /** Resolves once no run is in progress. */
  idle(): Promise<void>;
}

export function createCheckScheduler(
  runner: CheckRunner,
  clock: Clock,
  onResult: () => void,
): CheckScheduler {
  const inProgress = new Map<string, Promise<void>>();
  const kept = new Map<string, readonly CheckRun[]>();

  return {
    start(check, subject) {
      const key = `${subject.cluster} ${check.name}`;
      if (inProgress.has(key)) return;
      inProgress.set(
        key,
        run(check, subject).finally(() => inProgress.delete(key)),
      );
    },
    results: (cluster) => kept.get(cluster) ?? [],
    drop(cluster, check, upTo) {
      const left = (kept.get(cluster) ?? []).filter((each) => each.check !== check || each.at > upTo);
      if (left.length > 0) kept.set(cluster, left);
      else kept.delete(cluster);
    },
    async idle() {
      while (inProgress.size > 0) await Promise.all(inProgress.values());
    },
  };

  async function run(check: Check, subject: CheckSubject): Promise<void> {
    // Results carry their start time: a run that started before a new target settled does not count for that target.
    const at = clock.now();
    const answer = await runner.run(check, subject);
    const before = kept.get(subject.cluster) ?? [];
    kept.set(subject.cluster, [...before, { check: check.name, at, ...answer }]);
    onResult();
  }
}
