/** Runs steps one after the other, until one is not verified or the person leaves. */
import { describeError } from '../../cli/errors.ts';
import type { Io } from '../../cli/io.ts';
import type { Tour, TourStep } from './step.ts';

export type TourStepState = 'Verified' | 'Failed' | 'Skipped' | 'NotRun';

export interface TourStepResult {
  readonly name: string;
  readonly state: TourStepState;
  readonly seconds: number;
  readonly message?: string;
}

export type Answer = 'Run' | 'Skip' | 'Leave';

export interface RunnerOptions {
  readonly tour: Tour;
  /** Before each step. */
  readonly ask: () => Promise<Answer>;
  /** Waits until the fleet is as git states it: a step begins with a healthy fleet. */
  readonly settle: (tour: Tour) => Promise<void>;
  readonly onResult: (result: TourStepResult) => void;
}

/** A result for each step, in their order. */
export async function runSteps(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  steps: readonly TourStep[],
  { tour, ask, settle, onResult }: RunnerOptions,
): Promise<readonly TourStepResult[]> {
  const results: TourStepResult[] = [];
  let ended = false;
  for (const [index, step] of steps.entries()) {
    const result: TourStepResult = ended ? notRun(step) : await runStep(step, index);
    ended ||= result.state === 'Failed' || result.state === 'NotRun';
    results.push(result);
    onResult(result);
  }
  return results;

  async function runStep(step: TourStep, index: number): Promise<TourStepResult> {
    const { name, title, explanation } = step;
    tour.say(`\n${index + 1} of ${steps.length}: ${title}\n${explanation.join('\n')}`);
    const answer = await ask();
    if (answer === 'Leave') return notRun(step);
    if (answer === 'Skip') return { name, state: 'Skipped', seconds: 0 };
    const startMs = clock.monotonicMs();
    const seconds = (): number => Math.round((clock.monotonicMs() - startMs) / 1000);
    try {
      await settle(tour);
      await step.run(tour);
      return { name, state: 'Verified', seconds: seconds() };
    } catch (error) {
      if (signal.aborted) throw error;
      return { name, state: 'Failed', seconds: seconds(), message: describeError(error).text };
    }
  }
}

function notRun({ name }: TourStep): TourStepResult {
  return { name, state: 'NotRun', seconds: 0 };
}
