import { describe, expect, it } from 'vitest';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import {
  countCheckRuns,
  withoutCheckRuns,
  withoutLastResults,
} from '../../../../../src/controllers/componentset/rollout/checks/count.ts';
import type { OpenBatch } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { askedDigest, type CheckRun } from '../../../../../src/rollout/checks/gate.ts';
import { ago } from '../../../../support/builders.ts';
import { ROLLOUT } from '../../component-set.ts';
import { askingCheck, BATCH, type InputParts, inputOf, member, NEW, progressOf } from '../rollout-input.ts';

const CHECK = askingCheck('errors', { inconclusiveLimit: 9 });
const SOAKING: OpenBatch = { ...BATCH, settledAt: new Date(ago(120)), soakUntil: new Date(ago(-180)) };

function ran(result: CheckRun['result'], secondsAgo: number): CheckRun {
  const at = new Date(ago(secondsAgo));
  return { check: 'errors', asked: askedDigest(CHECK), at, result, message: result };
}

function counted(runs: readonly CheckRun[], batch: Partial<OpenBatch> = {}): OpenBatch | undefined {
  const rollout = { gate: { ...ROLLOUT.gate, checks: [CHECK] } };
  return countCheckRuns(inputOf({ rollout, runs }), progressOf({ batch: { ...SOAKING, ...batch } })).batch;
}

describe('countCheckRuns', () => {
  it('ROL-22 counts the runs since the batch was settled, and none that began before or in the future', () => {
    const runs = [ran('Failed', 121), ran('Failed', 120), ran('Passed', 0), ran('Failed', -1)];
    expect(counted(runs)?.gates).toMatchObject([{ name: 'errors', failures: 1, result: 'Passed' }]);
  });

  it('ROL-22 counts nothing before the batch is settled, nor after the rollout has stopped', () => {
    const { soakUntil: _s, settledAt: _t, ...open } = SOAKING;
    const input = inputOf({
      rollout: { gate: { ...ROLLOUT.gate, checks: [CHECK] } },
      runs: [ran('Failed', 1)],
    });
    const stopped = { reason: 'GateFailed', because: '' };
    for (const progress of [progressOf({ batch: open }), progressOf({ batch: SOAKING, stopped })]) {
      expect(countCheckRuns(input, progress)).toBe(progress);
    }
  });

  it('counts from the begin of a batch whose soak an earlier version began', () => {
    const { settledAt: _, ...batch } = SOAKING;
    const input = inputOf({
      rollout: { gate: { ...ROLLOUT.gate, checks: [CHECK] } },
      runs: [ran('Passed', 200)],
    });
    expect(countCheckRuns(input, progressOf({ batch })).batch?.gates).toMatchObject([{ result: 'Passed' }]);
  });

  it.each<[what: string, runs: readonly CheckRun[], seconds: number]>([
    ['after one run without a result', [ran('Unknown', 30)], 180],
    ['after two in a row: from the last one on', [ran('Unknown', 60), ran('Unknown', 30)], 270],
    [
      'not after two with a good one between',
      [ran('Unknown', 60), ran('Passed', 40), ran('Unknown', 30)],
      180,
    ],
    ['not after failures', [ran('Failed', 60), ran('Failed', 30)], 180],
  ])(
    'ROL-21 ends the soak later after a check had no result for longer than its interval: %s',
    (_what, runs, seconds) => {
      expect(counted(runs)?.soakUntil).toEqual(new Date(ago(-seconds)));
    },
  );

  it('ROL-21 never ends the soak earlier, and changes nothing when nothing ran', () => {
    const soakUntil = new Date(ago(-4000));
    const unanswered = [ran('Unknown', 60), ran('Unknown', 30)];
    expect(counted(unanswered, { soakUntil })?.soakUntil).toEqual(soakUntil);
    expect(counted([])).toEqual(SOAKING);
    const once = counted(unanswered);
    expect(once && counted([], once)).toEqual(once);
  });

  it('forgets the runs of a check that was removed', () => {
    const gates = [{ name: 'other', result: 'Failed', failures: 9, ranAt: ago(1) }] as const;
    expect(counted([], { gates })).toEqual(SOAKING);
  });
});

describe('withoutLastResults', () => {
  it('ROL-22 keeps what was counted when the soak begins again, and no last result', () => {
    const batch = counted([ran('Failed', 90), ran('Unknown', 60), ran('Passed', 30)]) ?? BATCH;
    expect(withoutLastResults(batch).gates).toEqual([
      { name: 'errors', asked: askedDigest(CHECK), failures: 1, inconclusive: 1 },
    ]);
    expect(withoutLastResults(BATCH)).toEqual(BATCH);
  });
});

describe('withoutCheckRuns', () => {
  it('ROL-22 begins to count again', () => {
    const batch = counted([ran('Failed', 90)]) ?? BATCH;
    expect(withoutCheckRuns(progressOf({ batch })).batch).toEqual(SOAKING);
    expect(withoutCheckRuns({ history: [] })).toEqual({ history: [] });
  });
});

describe('planRollout', () => {
  const gates = [
    { name: 'errors', result: 'Failed', failures: 1, ranAt: ago(60), message: '7 is above 1' },
  ] as const;
  const stopped = { reason: 'GateFailed', because: 'check errors: 7 is above 1' };
  const gate = { ...ROLLOUT.gate, checks: [CHECK] };
  const failure = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } as const;
  const members = [member('a', { at: NEW, batch: 1 }), member('b', { at: NEW, batch: 1 }), member('c')];

  it.each<[what: string, parts: InputParts, isKept: boolean]>([
    ['while it is stopped', { progress: progressOf({ batch: { ...BATCH, gates }, stopped }) }, true],
    [
      'after a person resumed what was stopped',
      { progress: progressOf({ batch: { ...BATCH, gates }, stopped, pausedAt: new Date(ago(9)) }) },
      false,
    ],
    [
      'after another retry token',
      { progress: progressOf({ batch: { ...BATCH, gates }, stopped }), retryToken: 'again' },
      false,
    ],
    [
      'after a pause of what was not stopped',
      {
        progress: progressOf({
          batch: { ...SOAKING, gates: [{ ...gates[0], result: 'Passed', failures: 0 }] },
          pausedAt: new Date(ago(9)),
        }),
      },
      true,
    ],
  ])('ROL-22 keeps what checks counted, or not: %s', (_what, parts, isKept) => {
    const { progress, limit } = planRollout(inputOf({ members, rollout: { gate, failure }, ...parts }));
    expect(progress.batch?.gates !== undefined).toBe(isKept);
    expect(limit.reason).toBe(progress.stopped ? 'GateFailed' : 'Soaking');
  });
});
