import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../../src/api/generated/types.ts';
import { planRollout } from '../../../../../src/controllers/componentset/plan.ts';
import { countUnknownHealth } from '../../../../../src/controllers/componentset/rollout/failure/unknown-health.ts';
import type { OpenBatch, RolloutInput } from '../../../../../src/controllers/componentset/rollout/input.ts';
import { ago, NOW } from '../../../../support/builders.ts';
import { BATCH, inputOf, member, NEW, progressOf, type StateParts } from '../rollout-input.ts';

const HEALTH: Check = {
  name: 'health',
  builtin: {},
  intervalSeconds: 30,
  failureLimit: 0,
  inconclusiveLimit: 3,
  consecutiveSuccess: 1,
};
const UNKNOWN = { at: NEW, batch: 1, step: 'Unknown', because: 'Node b is Unknown' } as const;

interface Situation {
  readonly checks?: readonly Check[];
  readonly batch?: Partial<OpenBatch>;
  readonly b?: StateParts;
  readonly onFailure?: 'RollbackAll' | 'Pause';
}

function situation({ checks = [HEALTH], batch, b = {}, onFailure = 'RollbackAll' }: Situation): RolloutInput {
  return inputOf({
    members: [member('a', { at: NEW, batch: 1 }), member('b', { ...UNKNOWN, ...b }), member('c')],
    progress: progressOf({ batch: { ...BATCH, ...batch } }),
    rollout: {
      gate: { soakSeconds: 300, checks: [...checks], approval: 'None' },
      failure: { maxFailed: 0, per: 'Rollout', onFailure },
    },
  });
}

const inconclusiveAt = (seconds: number, inconclusive = 1): Partial<OpenBatch> => ({
  inconclusive,
  inconclusiveAt: new Date(ago(seconds)),
});

describe('countUnknownHealth', () => {
  it.each<[what: string, situation: Situation, runs: number | undefined]>([
    ['the first run without a result', {}, 1],
    ['no run before the interval is over', { batch: inconclusiveAt(29) }, 1],
    ['one run an interval', { batch: inconclusiveAt(30) }, 2],
    ['on where it was, when the health was known meanwhile', { batch: inconclusiveAt(200, 3) }, 4],
    ['a run that was before a clock that was set back', { batch: inconclusiveAt(-60) }, 2],
    [
      'nothing once the health is known, and forgets nothing',
      { b: { step: 'Settled' }, batch: inconclusiveAt(60) },
      1,
    ],
    ['nothing while the machine is updated', { b: { holdsGrant: true } }, undefined],
    [
      'nothing while a person holds the machine',
      { b: { hold: { reason: 'mine', scope: 'All' } } },
      undefined,
    ],
    ['nothing of a machine of another batch', { b: { batch: 0 } }, undefined],
    ['nothing in a set without a builtin check', { checks: [] }, undefined],
    [
      'at the interval of the check that is over first',
      { checks: [HEALTH, { ...HEALTH, name: 'quick', intervalSeconds: 5 }], batch: inconclusiveAt(5) },
      2,
    ],
  ])('ROL-21 counts how often the health of a batch is unknown: %s', (_, parts, runs) => {
    const input = situation(parts);
    expect(countUnknownHealth(input, input.progress).batch?.inconclusive).toBe(runs);
  });
});

describe('a batch whose health stays unknown', () => {
  const over = situation({ batch: inconclusiveAt(30, 3) });

  it('ROL-21 waits while the check is within its limit, and starts no machine', () => {
    const plan = planRollout(situation({ batch: inconclusiveAt(30, 2) }));
    expect(plan.progress.stopped).toBeUndefined();
    expect(plan.limit).toMatchObject({ slots: 0, blocker: { kind: 'Machine', name: 'b' } });
    expect(plan.actions.map((action) => action.type)).toEqual(['Persist']);
  });

  it('ROL-21 stops the rollout over its limit, names the machine, and takes no machine back', () => {
    const plan = planRollout(over);
    expect(plan.progress.stopped).toEqual({
      reason: 'HealthUnknown',
      because: 'check health: runs without a result: 4, allowed: 3. b: Node b is Unknown',
    });
    expect(plan.mode).toBe('Forward');
    expect(plan.limit).toMatchObject({ reason: 'HealthUnknown', slots: 0 });
    expect(plan.actions.map((action) => action.type)).toEqual(['Persist']);
  });

  it('ROL-21 rolls back instead when a machine of it failed', () => {
    const [a, b, c] = over.members;
    if (!a || !b || !c) throw new Error('three machines');
    const plan = planRollout({ ...over, members: [{ ...a, step: 'Failed' }, b, c] });
    expect(plan.mode).toBe('RollingBack');
    expect(plan.progress.stopped).toBeUndefined();
  });

  it('ROL-21 stays stopped when the machine is well again, until a person pauses and resumes; the count starts over', () => {
    const { progress } = planRollout(over);
    const well = { ...over, members: over.members.map((each) => ({ ...each, step: 'Settled' as const })) };
    const still = planRollout({ ...well, progress });
    expect([still.limit.reason, still.actions]).toEqual(['HealthUnknown', []]);
    const resumed = planRollout({ ...well, progress: { ...progress, pausedAt: NOW } });
    expect(resumed.progress.stopped).toBeUndefined();
    expect(resumed.limit.reason).toBe('Soaking');
    const again = planRollout({ ...over, progress: { ...progress, pausedAt: NOW } });
    expect(again.progress.batch?.inconclusive).toBe(1);
    expect(again.progress.stopped).toBeUndefined();
  });

  it('ROL-21 counts from the start when a person paused it before the limit', () => {
    const progress = progressOf({
      batch: { ...BATCH, ...inconclusiveAt(600, 3) },
      pausedAt: new Date(ago(300)),
    });
    expect(planRollout({ ...over, progress }).progress.batch?.inconclusive).toBe(1);
  });

  it('ROL-33 does not stop a revert: it waits for the machine', () => {
    const history = [
      { revision: 'r-bad', result: 'RolledBack' },
      { revision: NEW.name, result: 'Completed' },
    ] as const;
    const plan = planRollout({ ...over, progress: { ...progressOf({ history }) } });
    expect(plan.mode).toBe('Revert');
    expect(plan.progress.stopped).toBeUndefined();
  });
});
