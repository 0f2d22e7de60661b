import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommitRun } from '../../../../src/api/generated/types.ts';
import { commitRuns } from '../../../../src/api/kinds/cluster-history.ts';
import { MAX_RUNS, nextHistory, type ObservedRun } from '../../../../src/sync/promote/history/runs.ts';
import { later, NOW } from '../../../rollout/builders.ts';

/** `c1=a1 Proven`: commit c1 with the content a1 is Proven; without content, `c1 Unknown`. */
function runOf(text: string): ObservedRun {
  const [what = '', state = 'Applying'] = text.split(' ');
  const [commit = '', digest] = what.split('=');
  return { commit, state: state as ObservedRun['state'], ...(digest === undefined ? {} : { digest }) };
}

/** Each step takes a second. The runs of one step are separated by `>`. */
function historyAfter(...steps: readonly string[]): readonly CommitRun[] {
  return steps.reduce<readonly CommitRun[]>(
    (history, step, index) => nextHistory(history, step.split(' > ').map(runOf), later(index)),
    [],
  );
}

function textOf({ commit, state, startedAt, endedAt, sameContentAs }: CommitRun): string {
  const end = endedAt === undefined ? '' : secondOf(endedAt);
  return `${commit} ${state} ${secondOf(startedAt)}-${end}${sameContentAs ? ` as ${sameContentAs}` : ''}`;
}

function secondOf(time: string): number {
  return (Date.parse(time) - +NOW) / 1000;
}

describe('nextHistory', () => {
  it.each<[name: string, steps: readonly string[], history: readonly string[]]>([
    ['begins with the first commit', ['c1=a1'], ['c1 Applying 0-']],
    [
      'follows the state of the commit that runs',
      ['c1=a1', 'c1=a1 Soaking', 'c1=a1 Proven'],
      ['c1 Proven 0-'],
    ],
    ['ends it with the next commit', ['c1=a1 Proven', 'c2=a2'], ['c2 Applying 1-', 'c1 Proven 0-1']],
    [
      'records the last state of a commit that is replaced in the same step',
      ['c1=a1 Soaking', 'c1=a1 Failed > c2=a2'],
      ['c2 Applying 1-', 'c1 Failed 0-1'],
    ],
    [
      'keeps the commit before a revert, and marks the content of the revert',
      ['c1=a1 Proven', 'c2=a2 Proven', 'c3=a1 Proven'],
      ['c3 Proven 2- as c1', 'c2 Proven 1-2', 'c1 Proven 0-1'],
    ],
    [
      'keeps a failed commit after its revert',
      ['c1=a1 Proven', 'c2=a2', 'c2=a2 Failed', 'c3=a1 Proven'],
      ['c3 Proven 3- as c1', 'c2 Failed 1-3', 'c1 Proven 0-1'],
    ],
    [
      'marks the same content under the next commit, and does not merge it',
      ['c1=a1 Proven', 'c2=a1 Proven'],
      ['c2 Proven 1- as c1', 'c1 Proven 0-1'],
    ],
    [
      'records other content of the same commit as a run of its own',
      ['c1=a1 Proven', 'c1=b1'],
      ['c1 Applying 1-', 'c1 Proven 0-1'],
    ],
    [
      'learns the content of an adopted commit later',
      ['c1=a1 Proven', 'c3 Unknown', 'c3=a3 Soaking'],
      ['c3 Soaking 1-', 'c1 Proven 0-1'],
    ],
    ['is the same when nothing happens', ['c1=a1 Proven', 'c1=a1 Proven'], ['c1 Proven 0-']],
  ])('%s', (_, steps, history) => {
    expect(historyAfter(...steps).map(textOf)).toEqual(history);
  });

  it('keeps what was known first about a commit, and adds what people decide meanwhile', () => {
    const first: ObservedRun = { ...runOf('c1=a1'), stage: 'test', author: 'Ann', decisions: ['one'] };
    const again: ObservedRun = {
      ...runOf('c1=a1 Failed'),
      stage: 'prod',
      author: 'Bob',
      subject: 's',
      reason: 'ProbeFailed',
      message: 'm',
      decisions: ['one', 'two'],
    };
    expect(nextHistory(nextHistory([], [first], NOW), [again], later(1))).toEqual([
      {
        commit: 'c1',
        digest: 'a1',
        state: 'Failed',
        reason: 'ProbeFailed',
        message: 'm',
        stage: 'test',
        author: 'Ann',
        subject: 's',
        startedAt: NOW.toISOString(),
        decisions: ['one', 'two'],
      },
    ]);
  });

  it('removes the reason of a failure that has ended, and records when it was proven first', () => {
    const failed = nextHistory([], [{ ...runOf('c1=a1 Failed'), reason: 'R', message: 'm' }], NOW);
    const proven = nextHistory(failed, [runOf('c1=a1 Proven')], later(1));
    const again = nextHistory(proven, [runOf('c1=a1 Proven')], later(2));
    expect(again).toEqual([
      {
        commit: 'c1',
        digest: 'a1',
        state: 'Proven',
        startedAt: NOW.toISOString(),
        provenAt: later(1).toISOString(),
      },
    ]);
  });

  it('keeps the newest runs, as many as the status of a Cluster can hold', () => {
    const commits = Array.from({ length: MAX_RUNS + 8 }, (_, index) => `c${index}=a${index} Proven`);
    const kept = historyAfter(...commits).map(({ commit }) => commit);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([MAX_RUNS, `c${MAX_RUNS + 7}`, 'c8']);
    expect(commitRuns.safeParse(historyAfter(...commits)).success).toBe(true);
    const one = historyAfter('c=a');
    expect(commitRuns.safeParse(Array.from({ length: MAX_RUNS + 1 }, () => one[0])).success).toBe(false);
  });

  it('never changes what has ended, and never repeats itself', () => {
    const anyRun = fc
      .tuple(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('a', 'b'),
        fc.constantFrom('Applying', 'Proven', 'Failed'),
      )
      .map(([commit, digest, state]) => `c${commit}=${digest} ${state}`);
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 80 }), (steps) => {
        let before: readonly CommitRun[] = [];
        for (const [index, step] of steps.entries()) {
          const after = nextHistory(before, [runOf(step)], later(index));
          const ended = before.filter(({ endedAt }) => endedAt !== undefined);
          const kept = after.filter((run) => ended.includes(run));
          expect(kept).toEqual(ended.slice(0, kept.length));
          expect(ended.length - kept.length).toBeLessThanOrEqual(after.length === MAX_RUNS ? 1 : 0);
          expect(after.filter(({ endedAt }) => endedAt === undefined)).toHaveLength(1);
          expect(after.length).toBeLessThanOrEqual(MAX_RUNS);
          expect(nextHistory(after, [runOf(step)], later(index))).toEqual(after);
          before = after;
        }
      }),
    );
  });
});
