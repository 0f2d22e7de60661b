/** The story of a small world, a line for each thing that changed: what people would follow in `kubenode status`. */
import type { PromotionPlan } from '../../../src/sync/promote/plan.ts';

export class Journal {
  readonly lines: string[] = [];
  readonly #last = new Map<string, string>();

  note(at: string, line: string): void {
    this.lines.push(`${at} ${line}`);
  }

  plan(at: string, plan: PromotionPlan): void {
    for (const { name, sync } of plan.clusters) {
      const { state = '-', commit = '-', message = '' } = sync;
      this.#once(name, `${state} ${commit}`, `${at}   ${name}: ${state} ${commit} (${message})`);
    }
    for (const { release, status } of plan.releases) {
      for (const stage of status.stages ?? []) this.#stage(at, release.spec.commit, stage);
    }
  }

  #stage(at: string, commit: string, { name, state, waiting }: StageLine): void {
    if (state === 'Pending') return;
    const isOver = state === 'Proven' || state === 'Superseded';
    const why = isOver || !waiting ? '' : ` (${waiting.reason}: ${waiting.message ?? ''})`;
    this.#once(
      `${commit} ${name}`,
      `${state} ${waiting?.reason ?? ''}`,
      `${at} ${commit} ${name}: ${state}${why}`,
    );
  }

  #once(key: string, what: string, line: string): void {
    if (this.#last.get(key) === what) return;
    this.#last.set(key, what);
    this.lines.push(line);
  }
}

type StageLine = NonNullable<PromotionPlan['releases'][number]['status']['stages']>[number];
