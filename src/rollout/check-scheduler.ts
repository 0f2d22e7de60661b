/** Runs checks in the background, one at a time for each cluster and check, and keeps what they said until it is counted. */
import type { Check } from '../api/generated/types.ts';
import type { Clock } from '../os/clock.ts';
import type { CheckRunner, CheckSubject } from './check-runner.ts';
import type { CheckRun } from './gates.ts';

export interface CheckDesk {
  /** Begins a run, unless one is under way. */
  begin(check: Check, about: CheckSubject): void;
  /** What was said and may not be counted yet. Counting the same run twice does no harm. */
  runsOf(cluster: string): readonly CheckRun[];
  /** Everything up to that moment is written down. */
  counted(cluster: string, check: string, upTo: Date): void;
  idle(): Promise<void>;
}

export function checkDesk(runner: CheckRunner, clock: Clock, onRun: () => void): CheckDesk {
  const underWay = new Map<string, Promise<void>>();
  const said = new Map<string, readonly CheckRun[]>();

  return {
    begin(check, about) {
      const key = `${about.cluster} ${check.name}`;
      if (underWay.has(key)) return;
      underWay.set(
        key,
        run(check, about).finally(() => underWay.delete(key)),
      );
    },
    runsOf: (cluster) => said.get(cluster) ?? [],
    counted(cluster, check, upTo) {
      const left = (said.get(cluster) ?? []).filter((each) => each.check !== check || each.at > upTo);
      if (left.length > 0) said.set(cluster, left);
      else said.delete(cluster);
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };

  async function run(check: Check, about: CheckSubject): Promise<void> {
    // The moment of the question: what was asked before a new target settled says nothing about that target.
    const at = clock.now();
    const answer = await runner.run(check, about);
    const before = said.get(about.cluster) ?? [];
    said.set(about.cluster, [...before, { check: check.name, at, ...answer }]);
    onRun();
  }
}
