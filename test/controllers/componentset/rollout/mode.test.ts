import { describe, expect, it } from 'vitest';
import type { RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import { beginRollout, modeOf } from '../../../../src/controllers/componentset/rollout/mode.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { NOW } from '../../../support/builders.ts';
import { COMPLETED, type InputParts, inputOf, NEW, OLD, progressOf } from './rollout-input.ts';

const AT = NOW.toISOString();
const EPOCH = '1970-01-01T00:00:00.000Z';
const BAD = { revision: NEW.name, result: 'RolledBack' } as const;
const BLOCKED = { desired: { problems: [{ reason: 'ComponentNotFound', because: 'x' }] } };
const PROVEN = { revision: NEW.name, result: 'Completed' } as const;

describe('modeOf', () => {
  it.each<[mode: string, history: RolloutProgress['history'], parts?: InputParts]>([
    ['Blocked', [COMPLETED], BLOCKED],
    ['Forward', []],
    ['Forward', [COMPLETED]],
    ['Forward', [{ revision: NEW.name, result: 'Superseded' }, COMPLETED]],
    ['Steady', [PROVEN, COMPLETED]],
    ['Revert', [COMPLETED, PROVEN]],
    ['RollingBack', [BAD, COMPLETED]],
    ['Refused', [{ ...BAD, finishedAt: AT }, COMPLETED]],
    ['Refused', [COMPLETED, { ...BAD, finishedAt: AT }]],
    ['Forward', [{ ...BAD, finishedAt: AT }, COMPLETED], { retryToken: 'again' }],
  ])('ROL-33 is %s after what became of the revisions', (mode, history, parts = {}) => {
    expect(modeOf(inputOf(parts), progressOf({ history }))).toBe(mode);
  });
});

describe('beginRollout', () => {
  it('ROL-30 forgets why a rollout stopped only for another retry token', () => {
    const progress = progressOf({ stopped: { reason: 'FailureBudgetSpent', because: '', retryToken: 'a' } });
    expect(beginRollout(inputOf({ progress, retryToken: 'a' }))).toBe(progress);
    expect(beginRollout(inputOf({ progress, retryToken: 'b' }))).toEqual(progressOf());
  });

  it('ROL-05 continues with the revision that it has begun', () => {
    const progress = progressOf();
    expect(beginRollout(inputOf({ progress }))).toBe(progress);
    expect(beginRollout(inputOf({ progress, ...BLOCKED }))).toBe(progress);
  });

  it('ROL-05 begins a new rollout for an edit, and records the one before as superseded', () => {
    const progress = progressOf({ updateRevision: 'r-x', startedAt: new Date(0) });
    const superseded = { revision: 'r-x', result: 'Superseded', startedAt: EPOCH, finishedAt: AT };
    expect(beginRollout(inputOf({ progress }))).toEqual({
      updateRevision: NEW.name,
      startedAt: NOW,
      history: [superseded, COMPLETED],
    });
  });

  it('ROL-33 keeps what was proven when it is superseded, also in a revert that did not end', () => {
    const history = [{ revision: 'r-x', result: 'Superseded' }, COMPLETED] as const;
    const progress = progressOf({ updateRevision: OLD.name, history });
    expect(beginRollout(inputOf({ progress }))).toEqual({
      updateRevision: NEW.name,
      startedAt: NOW,
      history,
    });
  });

  it('ROL-32 ends the record of a rollback when another revision is asked for', () => {
    const open = { revision: 'r-x', result: 'RolledBack' } as const;
    const progress = progressOf({ updateRevision: 'r-x', history: [open, COMPLETED] });
    expect(beginRollout(inputOf({ progress })).history[0]).toEqual({ ...open, finishedAt: AT });
    const ended = { ...open, finishedAt: '2029-01-01T00:00:00Z' };
    const before = progressOf({ updateRevision: 'r-x', history: [ended, COMPLETED] });
    expect(beginRollout(inputOf({ progress: before })).history[0]).toEqual(ended);
  });

  it('ROL-32 begins a revision again that was rolled back once the retry token changes, from the first batch', () => {
    const history = [{ ...BAD, finishedAt: AT, retryToken: 'a' }, COMPLETED];
    const progress = progressOf({ startedAt: new Date(0), history });
    expect(beginRollout(inputOf({ progress, retryToken: 'a' }))).toBe(progress);
    expect(beginRollout(inputOf({ progress, retryToken: 'b' }))).toEqual({
      updateRevision: NEW.name,
      startedAt: NOW,
      history: [COMPLETED],
    });
  });

  it('DAT-10 records the commit that began the rollout, and keeps it when a later one changes the set', () => {
    const begun = from(progressOf({ updateRevision: 'r-x', commit: 'c-1' }), 'c-2');
    expect(begun).toMatchObject({ commit: 'c-2', history: [{ revision: 'r-x', commit: 'c-1' }, {}] });
    expect(from(begun, 'c-3')).toBe(begun);
    const stopped = { ...begun, stopped: { reason: 'GateFailed', because: '', retryToken: 'a' } };
    expect(from(stopped, 'c-3', 'b').commit).toBe('c-2');
    const refused = [{ ...BAD, finishedAt: AT, retryToken: 'a' }, COMPLETED];
    expect(from({ ...begun, history: refused }, 'c-3', 'b').commit).toBe('c-3');
    // The status cannot hold it.
    expect(from(progressOf({ updateRevision: 'r-x' }), 'c'.repeat(65)).commit).toBeUndefined();
  });

  it('DAT-10 records why a rollout had stopped that is superseded', () => {
    const stopped = { reason: 'GateFailed', because: `errors: ${'9'.repeat(300)}` };
    const [record] = beginRollout(
      inputOf({ progress: progressOf({ updateRevision: 'r-x', stopped }) }),
    ).history;
    expect(record).toMatchObject({ result: 'Superseded', reason: 'GateFailed' });
    expect(record?.message).toHaveLength(256);
  });
});

/** Begins with a set that sync changed with this commit. */
function from(progress: RolloutProgress, commit: string, retryToken?: string): RolloutProgress {
  const input = inputOf({ progress, ...optional('retryToken', retryToken) });
  const annotations = { 'kubenode.dev/commit': commit };
  return beginRollout({ ...input, set: { ...input.set, metadata: { ...input.set.metadata, annotations } } });
}
