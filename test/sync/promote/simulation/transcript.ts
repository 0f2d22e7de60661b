/** A line for each change in a simulation: what people would read in `kubenode status`. */
import type { PromotionPlan } from '../../../../src/sync/promote/plan.ts';

export class Transcript {
  readonly lines: string[] = [];
  readonly #last = new Map<string, string>();

  note(at: string, text: string): void {
    this.lines.push(`${at} ${text}`);
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

  #stage(at: string, commit: string, { name, state, waiting }: StageStatus): void {
    if (state === 'Pending') return;
    const isFinal = state === 'Proven' || state === 'Superseded';
    const why = isFinal || !waiting ? '' : ` (${waiting.reason}: ${waiting.message ?? ''})`;
    this.#once(
      `${commit} ${name}`,
      `${state} ${waiting?.reason ?? ''}`,
      `${at} ${commit} ${name}: ${state}${why}`,
    );
  }

  #once(key: string, value: string, line: string): void {
    if (this.#last.get(key) === value) return;
    this.#last.set(key, value);
    this.lines.push(line);
  }
}

type StageStatus = NonNullable<PromotionPlan['releases'][number]['status']['stages']>[number];
