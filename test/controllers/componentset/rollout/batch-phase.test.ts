import { describe, expect, it } from 'vitest';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import {
  batchPhase,
  pausedSoak,
  withSoak,
} from '../../../../src/controllers/componentset/rollout/batch-phase.ts';
import type { RolloutMode, RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { ROLLOUT } from '../component-set.ts';
import {
  askingCheck,
  BATCH,
  type InputParts,
  inputOf,
  member,
  NEW,
  OLD,
  progressOf,
  type StateParts,
  withRuns,
} from './rollout-input.ts';

const started = (name: string, parts: StateParts = {}): ReturnType<typeof member> =>
  member(name, { at: NEW, batch: 1, ...parts });
const BOTH = [started('a'), started('b')];
const soak = (seconds: number): RolloutProgress =>
  progressOf({ batch: { ...BATCH, soakUntil: new Date(ago(-seconds)) } });

function phaseOf(
  parts: InputParts,
  {
    canStart = false,
    mode = 'Forward',
    progress = progressOf(),
  }: { readonly canStart?: boolean; readonly mode?: RolloutMode; readonly progress?: RolloutProgress } = {},
): string {
  const found = batchPhase(inputOf(parts), progress, { canStart, mode });
  if (found.phase === 'Passed') return 'Passed';
  return found.phase === 'Filling'
    ? `Filling ${found.left}`
    : `${found.phase} ${found.reason}: ${found.because}`;
}

describe('batchPhase', () => {
  it('ROL-01 fills a batch up to its size, and counts machines that left since', () => {
    expect(phaseOf({ members: [started('a')] }, { canStart: true })).toBe('Filling 1');
    expect(phaseOf({ members: [started('a')], left: [started('b')] }, { canStart: true })).toMatch(
      /^Soaking/,
    );
    expect(phaseOf({ members: [started('a', { batch: 0 })] }, { canStart: true })).toBe('Filling 2');
  });

  it('ROL-06 counts a machine whose assignment was removed in the open batch, and waits until it has it again', () => {
    const { revision: _, ...unassigned } = member('b', { at: NEW, step: 'Unassigned', reason: 'Unassigned' });
    const members = [started('a'), unassigned];
    const settling = 'Settling Unassigned: b: ';
    expect(phaseOf({ members }, { canStart: true })).toBe(settling);
    expect(phaseOf({ members: [unassigned] })).toBe(settling);
    expect(phaseOf({ members: [started('a'), { ...unassigned, pinned: ['app'] }] }, { canStart: true })).toBe(
      'Filling 1',
    );
    const joins = member('b', { at: 'None' });
    expect(phaseOf({ members: [started('a'), joins] }, { canStart: true })).toBe('Filling 1');
    const { revision: _old, ...other } = member('b', { at: OLD, step: 'Unassigned' });
    expect(phaseOf({ members: [started('a'), other] }, { canStart: true })).toBe('Filling 1');
  });

  it('ROL-01 takes a batch for full when no other machine can start', () => {
    expect(phaseOf({ members: [started('a')] })).toMatch(/^Soaking/);
    expect(phaseOf({})).toBe('Passed');
  });

  it.each<[step: StateParts['step'], expected: string]>([
    ['InWork', 'Settling Probation: b: app is Probation'],
    ['NeedsGrant', 'Settling Probation: b: app is Probation'],
    ['Unknown', 'Settling Probation: b: app is Probation'],
    ['Failed', 'Soaking Soaking: batch 2 begins to soak'],
    ['UnhealthyBefore', 'Soaking Soaking: batch 2 begins to soak'],
    ['Differs', 'Soaking Soaking: batch 2 begins to soak'],
  ])('ROL-21 waits for a machine that is not at its end: %s', (step, expected) => {
    const open = started('b', { step: step ?? 'InWork', reason: 'Probation', because: 'app is Probation' });
    expect(phaseOf({ members: [started('a'), open] })).toBe(expected);
  });

  it.each<[step: StateParts['step'], expected: RegExp]>([
    ['InWork', /^Settling/],
    ['Unknown', /^Settling/],
    ['NeedsGrant', /^Soaking/],
    ['Retriable', /^Soaking/],
  ])('ROL-40 waits for a machine that left only while it is in work: %s', (step, expected) => {
    expect(phaseOf({ members: [started('a')], left: [started('b', { step: step ?? 'InWork' })] })).toMatch(
      expected,
    );
  });

  it('does not wait for a machine that a person holds', () => {
    const held = started('b', { step: 'InWork', hold: { reason: 'x', scope: 'All' } });
    expect(phaseOf({ members: [started('a'), held] })).toMatch(/^Soaking/);
  });

  it.each<[what: string, parts: InputParts, progress: RolloutProgress, expected: string]>([
    ['the soak goes on', {}, soak(1), 'Soaking Soaking: batch 2 soaks until 2030-01-01T12:00:01.000Z'],
    ['the soak is over', {}, soak(0), 'Passed'],
    [
      'checks wait',
      { gate: { state: 'Waiting' } },
      soak(0),
      'Gate GateOpen: checks of batch 2 have not passed yet',
    ],
    [
      'a check has no result',
      { rollout: { gate: { ...ROLLOUT.gate, checks: [askingCheck('c')] } } },
      withRuns(soak(0), [{ name: 'c', result: 'Unknown', inconclusive: 1, message: 'no answer' }]),
      'Gate GateOpen: checks of batch 2 have not passed yet; check c: no answer (runs without a result: 1, allowed: 3)',
    ],
  ])(
    'ROL-20 opens the way to the next batch after soak and checks: %s',
    (_what, parts, progress, expected) => {
      expect(phaseOf({ ...parts, members: BOTH }, { progress })).toBe(expected);
    },
  );

  it('ROL-33 needs no soak in a revert, but health', () => {
    expect(phaseOf({ members: BOTH }, { mode: 'Revert' })).toBe('Passed');
    expect(phaseOf({ members: [started('a', { step: 'InWork' })] }, { mode: 'Revert' })).toMatch(/^Settling/);
  });
});

describe('withSoak', () => {
  const input = inputOf();
  const open = { reason: 'r', because: 'b' };

  it('ROL-20 starts the clock once, when the batch is settled', () => {
    const begun = withSoak(input, progressOf(), { phase: 'Soaking', ...open });
    expect(begun.batch?.soakUntil).toEqual(new Date(+NOW + 300_000));
    expect(begun.batch?.settledAt).toEqual(NOW);
    expect(withSoak(input, soak(7), { phase: 'Soaking', ...open })).toEqual(soak(7));
  });

  it('ROL-21 starts it again after a machine was not settled', () => {
    expect(withSoak(input, soak(7), { phase: 'Settling', ...open })).toEqual(progressOf());
    expect(withSoak(input, soak(7), { phase: 'Filling', left: 1 })).toEqual(progressOf());
  });

  it('ROL-22 forgets what checks found last when a machine was not settled, and not what they counted', () => {
    const gates = [
      { name: 'c', result: 'Passed', ranAt: ago(1), consecutive: 3, failures: 1, inconclusive: 2 },
    ] as const;
    const { batch } = withSoak(input, withRuns(soak(7), gates), { phase: 'Settling', ...open });
    expect(batch).toEqual({ ...BATCH, gates: [{ name: 'c', failures: 1, inconclusive: 2 }] });
  });

  it('keeps it at the gate', () => {
    expect(withSoak(input, soak(0), { phase: 'Gate', ...open })).toEqual(soak(0));
    expect(withSoak(input, soak(0), { phase: 'Passed' })).toEqual(soak(0));
  });
});

describe('pausedSoak', () => {
  it.each<[what: string, other: StateParts, isKept: boolean]>([
    ['while all machines of the batch are well', {}, true],
    ['not when one is in work', { step: 'InWork' }, false],
    ['not when one has failed', { step: 'Unhealthy' }, false],
    ['also while a person holds one', { step: 'Unknown', hold: { reason: 'x', scope: 'All' } }, true],
    ['also when one of an earlier batch has failed', { batch: 0, step: 'Unhealthy' }, true],
  ])('ROL-34 keeps what has soaked before a pause: %s', (_what, other, isKept) => {
    const members = [started('a'), started('b', other)];
    const { batch } = pausedSoak(inputOf({ members }), soak(60));
    expect(batch).toEqual(isKept ? soak(60).batch : BATCH);
  });

  it('ROL-34 soaks again in full when a machine failed during the pause', () => {
    const paused = planRollout(
      inputOf({
        members: [started('a'), started('b', { step: 'Unhealthy' })],
        paused: true,
        progress: soak(5),
      }),
    );
    expect(paused.progress.batch).toEqual(BATCH);
  });
});
