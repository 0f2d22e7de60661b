import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/cli/errors.ts';
import { type Answer, runSteps, type TourStepResult } from '../../../src/demo/tour/runner.ts';
import type { Tour, TourStep } from '../../../src/demo/tour/step.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

interface Ran {
  readonly results: readonly TourStepResult[];
  readonly journal: readonly string[];
}

/** Steps a, b and c; `failing` is not verified. */
async function run(answers: readonly Answer[], failing = '', settled = true): Promise<Ran> {
  const journal: string[] = [];
  const steps = ['a', 'b', 'c'].map(
    (name): TourStep => ({
      name,
      title: `title ${name}`,
      explanation: ['one', 'two'],
      run() {
        journal.push(`run ${name}`);
        if (name !== failing) return Promise.resolve();
        return Promise.reject(
          new CliError('not verified', { where: 'observed last: x', hint: 'look at: y' }),
        );
      },
    }),
  );
  const tour = { say: (text: string) => void journal.push(text.trim().split('\n')[0] ?? '') } as Tour;
  const left = [...answers];
  const results = await runSteps({ clock: virtualClock(), signal: new AbortController().signal }, steps, {
    tour,
    ask: () => Promise.resolve(left.shift() ?? 'Run'),
    settle: () => (settled ? Promise.resolve() : Promise.reject(new CliError('not healthy'))),
    onResult: ({ name, state }) => void journal.push(`${name} ${state}`),
  });
  return { results, journal };
}

function statesOf({ results }: Ran): string {
  return results.map(({ state }) => state).join(' ');
}

describe('runSteps', () => {
  it('explains, runs and reports one step after the other', async () => {
    const { journal } = await run([]);
    expect(journal).toEqual(
      ['a', 'b', 'c'].flatMap((name, index) => [
        `${index + 1} of 3: title ${name}`,
        `run ${name}`,
        `${name} Verified`,
      ]),
    );
  });

  it.each<[name: string, answers: readonly Answer[], failing: string, states: string]>([
    ['a step is skipped', ['Run', 'Skip'], '', 'Verified Skipped Verified'],
    ['the person leaves', ['Run', 'Leave'], '', 'Verified NotRun NotRun'],
    ['a step is not verified', [], 'b', 'Verified Failed NotRun'],
  ])('has a result for each step when %s', async (_, answers, failing, states) => {
    expect(statesOf(await run(answers, failing))).toBe(states);
  });

  it('reports what was observed and what to look at when a step is not verified', async () => {
    const { results } = await run([], 'a');
    expect(results[0]?.message).toBe('error: not verified\n  where: observed last: x\n  hint: look at: y');
  });

  it('begins no step in a fleet that is not healthy', async () => {
    const ran = await run([], '', false);
    expect(statesOf(ran)).toBe('Failed NotRun NotRun');
    expect(ran.journal).not.toContain('run a');
  });
});
