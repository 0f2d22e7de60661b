import { describe, expect, it } from 'vitest';
import { formatStepResult, formatTotal, isSuccess, parseAnswer } from '../../../src/cli/commands/tour.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { TourStepResult, TourStepState } from '../../../src/demo/tour/runner.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

function results(...states: readonly TourStepState[]): readonly TourStepResult[] {
  return states.map((state, index) => ({ name: `s${index}`, state, seconds: 1 }));
}

describe('kubenode tour', () => {
  it.each<[states: readonly TourStepState[], isEach: boolean, success: boolean]>([
    [['Verified', 'Verified'], true, true],
    [['Verified', 'NotRun'], true, false],
    [['Verified', 'Failed'], true, false],
    [['Skipped', 'NotRun'], false, true],
    [['Failed', 'NotRun'], false, false],
  ])('succeeds with %s only if it may (--yes: %s)', (states, isEach, success) => {
    expect(isSuccess(results(...states), isEach)).toBe(success);
  });

  it.each([
    ['', 'Run'],
    ['S\n', 'Skip'],
    ['q', 'Leave'],
    ['x', 'Run'],
  ])('reads the answer %j as %s', (text, answer) => {
    expect(parseAnswer(text)).toBe(answer);
  });

  it.each<[TourStepState, string]>([
    ['Verified', 's: every outcome was verified, in 3 s'],
    ['Failed', 's: failed after 3 s\nwhy'],
    ['Skipped', 's: skipped'],
    ['NotRun', 's: not run'],
  ])('prints the result %s', (state, text) => {
    expect(formatStepResult({ name: 's', state, seconds: 3, message: 'why' })).toBe(text);
  });

  it.each<[seconds: readonly number[], text: string]>([
    [[30, 29], '1 of 2 steps verified, in 59 s'],
    [[60, 65], '1 of 2 steps verified, in 2 min 5 s'],
  ])('tells at its end what was verified, and how long it took: %j s', (seconds, text) => {
    const [first, second] = results('Verified', 'Skipped').map((each, index) => ({
      ...each,
      seconds: seconds[index] ?? 0,
    }));
    expect(formatTotal([first, second].flatMap((each) => each ?? []))).toBe(text);
  });

  it('lists its steps as lines of JSON', async () => {
    const io = testIo();
    expect(await runCommandLine(io, ['tour', '--list', '-o', 'json'])).toBe(0);
    const [first = ''] = io.stdout.split('\n');
    expect(JSON.parse(first)).toEqual({
      name: 'rollout',
      title: 'A version goes to test, pre and prod, in batches',
    });
  });

  it('names the command that starts the fleet when none is running', async () => {
    const io = testIo();
    expect(await runCommandLine(io, ['tour', '--yes', '--dir', tempFolder('tour')])).toBe(69);
    expect(io.stderr).toContain('kubenode start --demo ../kubenode-demo');
  });

  it('refuses a step that does not exist', async () => {
    const io = testIo();
    expect(await runCommandLine(io, ['tour', '--step', 'nothing'])).toBe(64);
  });
});
