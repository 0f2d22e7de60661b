import { describe, expect, it } from 'vitest';
import { stageFailures } from '../../../src/sync/revert/plan.ts';
import { type RevertReportInput, revertReport, revertSentence } from '../../../src/sync/revert/report.ts';
import { FAILED, failedRelease, PROVEN, pipelineWith, REVERT, recordOf } from './builders.ts';

const INPUT: RevertReportInput = {
  failures: stageFailures(pipelineWith([{}]), [failedRelease()]),
  records: [],
  refusals: new Map(),
  waiting: undefined,
  problem: undefined,
};
const PROBLEM = { status: 'Unknown', reason: 'Unreachable', message: 'no answer' } as const;

describe('revertReport', () => {
  it.each<[string, Partial<RevertReportInput>, object]>([
    ['is empty before anything was done', {}, {}],
    [
      'reports what the host does not do first',
      { problem: PROBLEM, waiting: 'paused' },
      { problem: PROBLEM },
    ],
    [
      'reports a pause',
      { waiting: 'it is paused' },
      { problem: { status: 'False', reason: 'Paused', message: 'it is paused' } },
    ],
    [
      'reports why none is made',
      { refusals: new Map([[FAILED, { reason: 'Conflict', message: 'web.yaml' }]]) },
      { problem: { status: 'False', reason: 'Conflict', message: 'web.yaml' } },
    ],
    [
      'does not count a revert by a person as a problem',
      { refusals: new Map([[FAILED, { reason: 'AlreadyReverted', message: 'done' }]]) },
      { done: { reason: 'AlreadyReverted', message: 'done' } },
    ],
    [
      'forgets the refusal of a commit that was replaced',
      { failures: [], refusals: new Map([[FAILED, { reason: 'Conflict', message: 'x' }]]) },
      {},
    ],
    [
      'forgets the revert of a commit that was replaced',
      { failures: [], records: [recordOf({ state: 'Proposed' })] },
      {},
    ],
  ])('S35 reports how the reverts are: %s', (_, more, expected) => {
    expect(revertReport({ ...INPUT, ...more })).toEqual(expected);
  });

  it('S35 tells what to merge, and to what it goes back', () => {
    const url = 'https://git.example.com/7';
    const proposed = recordOf({ state: 'Proposed', pullRequest: 7, url, note: 'it is not signed' });
    expect(revertReport({ ...INPUT, records: [proposed] }).done).toEqual({
      reason: 'RevertProposed',
      message: `${FAILED} failed in stage prod: merge pull request 7 (${url}), which goes back to ${PROVEN}, or push a commit that fixes it. Note: it is not signed`,
    });
    expect(revertSentence(recordOf({ state: 'Pushed' }))).toBe(
      `${FAILED} failed in stage prod: sync has pushed ${REVERT}, which goes back to ${PROVEN}`,
    );
    expect(revertSentence(recordOf())).toContain(`its revert ${REVERT} is being pushed`);
  });
});
