/** Runs checks in the background, one run at a time for each subject and check, and keeps results until they are recorded. */
import type { Check } from '../../api/generated/types.ts';
import type { Clock } from '../../os/clock.ts';
import { askedDigest, type CheckRun } from './gate.ts';
import type { CheckRunner, CheckSubject } from './runner.ts';

export interface CheckScheduler {
  /**
   * Starts a run, unless one is in progress. `known` is the last run that the caller knows of, or a moment before the first one: with it
   * no run is repeated that the caller has not read yet, because its view of what is recorded is older.
   */
  start(check: Check, subject: CheckSubject, known?: Date): void;
  /** Results that may not be recorded yet. Counting one twice is harmless. */
  results(subject: string): readonly CheckRun[];
  /** Drops the results up to that moment: they are recorded. */
  drop(subject: string, check: string, upTo: Date): void;
  /** Drops all results of a subject that no longer exists. */
  forget(subject: string): void;
  /** Resolves once no run is in progress. */
  idle(): Promise<void>;
}

export function createCheckScheduler(
  runner: CheckRunner,
  clock: Clock,
  onResult: (subject: string) => void,
): CheckScheduler {
  const inProgress = new Map<string, Promise<void>>();
  const kept = new Map<string, readonly CheckRun[]>();
  const lastStarts = new Map<string, { readonly asked: string; readonly at: Date }>();

  return {
    start(check, subject, known) {
      const key = keyOf(subject.name, check.name);
      if (inProgress.has(key) || isUnknown(check, key, known)) return;
      lastStarts.set(key, { asked: askedDigest(check), at: clock.now() });
      inProgress.set(
        key,
        run(check, subject).finally(() => inProgress.delete(key)),
      );
    },
    results: (subject) => kept.get(subject) ?? [],
    drop(subject, check, upTo) {
      const left = (kept.get(subject) ?? []).filter((each) => each.check !== check || each.at > upTo);
      if (left.length > 0) kept.set(subject, left);
      else kept.delete(subject);
    },
    forget(subject) {
      kept.delete(subject);
      const own = [...lastStarts.keys()].filter((key) => key.startsWith(keyOf(subject, '')));
      for (const key of own) lastStarts.delete(key);
    },
    async idle() {
      while (inProgress.size > 0) await Promise.all(inProgress.values());
    },
  };

  /** Tells whether a run that the caller does not know of began less than an interval ago. */
  function isUnknown(check: Check, key: string, known: Date | undefined): boolean {
    const last = lastStarts.get(key);
    if (!last || !known || last.asked !== askedDigest(check)) return false;
    const age = +clock.now() - +last.at;
    return last.at > known && age >= 0 && age < check.intervalSeconds * 1000;
  }

  async function run(check: Check, subject: CheckSubject): Promise<void> {
    // Results carry their start time: a run that started before a new target settled does not count for that target.
    const at = clock.now();
    const answer = await runner.run(check, subject);
    const before = kept.get(subject.name) ?? [];
    const found = { check: check.name, asked: askedDigest(check), at, ...answer };
    kept.set(subject.name, [...before, found]);
    onResult(subject.name);
  }
}

/** Names of objects have no space. */
function keyOf(subject: string, check: string): string {
  return `${subject} ${check}`;
}
