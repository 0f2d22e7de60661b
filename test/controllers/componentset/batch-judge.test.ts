import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../src/controllers/componentset/machine/member-state.ts';
import type { OpenBatch, RolloutProgress } from '../../../src/controllers/componentset/rollout/input.ts';
import { ago, NOW } from '../../support/builders.ts';
import { appRevision, BATCH, COMPLETED, member, NEW, OLD, type StateParts } from './rollout/rollout-input.ts';
import { BatchJudge } from './simulation/batch-judge.ts';

const OTHER = appRevision('3');
const SOAKED = { soakUntil: new Date(ago(0)) };

function at(index: number | undefined, more: Partial<OpenBatch> = {}): RolloutProgress {
  const batch = { size: 1, total: 4, startedAt: NOW, ...more };
  return {
    updateRevision: NEW.name,
    startedAt: NOW,
    history: [COMPLETED],
    ...(index === undefined ? {} : { batch: { ...batch, index } }),
  };
}

const NONE = at(undefined);
const DONE = { ...NONE, history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED] } as const;
const REVERT = { ...NONE, history: [{ revision: OLD.name, result: 'Superseded' }, DONE.history[0]] } as const;

function started(batch: number, parts: StateParts = {}): MemberState {
  return member('m', { at: NEW, batch, ...parts });
}

interface Row {
  readonly writes: readonly RolloutProgress[];
  readonly members?: readonly MemberState[];
  readonly left?: readonly MemberState[];
  readonly soakSeconds?: number;
}

function found({ writes, members = [started(0)], left = [], soakSeconds = 60 }: Row): string {
  const judge = new BatchJudge();
  const reasons = writes.flatMap((after, index) => {
    const before = writes[index - 1];
    return before ? (judge.judge(before, after, { members, left, soakSeconds, now: NOW }) ?? []) : [];
  });
  return reasons.join('; ') || 'nothing';
}

/** The next batch, after the first one. */
function nextAfter(step: MemberState['step'], parts: StateParts = {}): Row {
  return { writes: [NONE, at(0), at(0, SOAKED), at(1)], members: [started(0, { step, ...parts })] };
}

describe('BatchJudge', () => {
  it.each<[what: string, row: Row, expected: string]>([
    ['a batch that has soaked', nextAfter('Settled'), 'nothing'],
    ['a batch that has not', { writes: [NONE, at(0), at(1)] }, 'batch 0 has not soaked'],
    ['a batch without a soak', { writes: [NONE, at(0), at(1)], soakSeconds: 0 }, 'nothing'],
    ['a batch whose machines were deleted', { writes: [NONE, at(0), at(1)], members: [] }, 'nothing'],
    ['a machine in work', nextAfter('InWork'), 'batch 0 is still in work: m'],
    ['a machine of which nothing is known', nextAfter('Unknown'), 'batch 0 is still in work: m'],
    ['a machine that failed', nextAfter('Failed'), 'nothing'],
    ['a machine that is held', nextAfter('InWork', { hold: { reason: 'x', scope: 'All' } }), 'nothing'],
    ['a machine in work in another batch', nextAfter('InWork', { batch: 1 }), 'nothing'],
    ['a machine in work at another revision', nextAfter('InWork', { at: OTHER }), 'nothing'],
    [
      'a machine in work that left',
      { ...nextAfter('Settled'), left: [started(0, { step: 'InWork' })] },
      'batch 0 is still in work: m',
    ],
    ['the end after a soak', { writes: [NONE, at(0), at(0, SOAKED), DONE] }, 'nothing'],
    ['the end without one', { writes: [NONE, at(0), DONE] }, 'batch 0 has not soaked'],
    [
      'the end of a machine whose batch was not opened',
      { writes: [NONE, DONE] },
      'batch 0 of m was not opened',
    ],
    ['a first batch', { writes: [NONE, at(1)], members: [] }, 'nothing'],
    ['a first batch that leaves one out', { writes: [NONE, at(1)] }, 'batch 0 of m was not opened'],
    [
      'a revision that comes back to its open batch',
      { writes: [NONE, at(0), { ...at(0), updateRevision: OTHER.name }, at(1)] },
      'batch 0 of m was not opened',
    ],
    [
      'a new retry token',
      { writes: [NONE, at(0), { ...at(1), startedAt: new Date(ago(1)) }] },
      'batch 0 of m was not opened',
    ],
    [
      'a revert without a soak',
      { writes: [REVERT, { ...REVERT, batch: { ...BATCH, index: 1 } }, DONE] },
      'nothing',
    ],
  ])('ROL-20 finds what was written too early: %s', (_what, row, expected) => {
    expect(found(row)).toBe(expected);
  });
});
