import { describe, expect, it } from 'vitest';
import { longestHistory, planRetention } from '../../../../src/controllers/remedy/case/retention.ts';
import { NOW } from '../../../support/builders.ts';
import { type JobParts, remedyJob } from '../../../support/remediers.ts';

const HOUR = 3600;
const DAY = 86_400;
const RETENTION = { ttlSeconds: DAY, historyLimit: 200, historySeconds: 0 };

function endedAgo(seconds: number, parts: JobParts = {}): ReturnType<typeof remedyJob> {
  const times = { begun: seconds + 60, ended: seconds };
  return remedyJob({
    case: seconds.toString(16).padStart(8, '0'),
    outcome: 'Succeeded',
    risk: 'Pod',
    ...times,
    ...parts,
  });
}

function expired(
  jobs: readonly ReturnType<typeof remedyJob>[],
  more: Partial<typeof RETENTION> = {},
): number[] {
  const plan = planRetention(jobs, { ...RETENTION, ...more }, NOW);
  return plan.expired.map((job) => jobs.indexOf(job)).toSorted((a, b) => a - b);
}

describe('jobs that ended', () => {
  it('are deleted when their time is over, and the next time is known', () => {
    const jobs = [endedAgo(2 * DAY), endedAgo(DAY - HOUR), endedAgo(HOUR)];
    expect(expired(jobs)).toEqual([0]);
    expect(planRetention(jobs, RETENTION, NOW).nextAt).toEqual(new Date(+NOW + HOUR * 1000));
  });

  it('stay for a week when they disrupted a node', () => {
    const disruptive = { risk: 'Node' } as const;
    expect(expired([endedAgo(6 * DAY, disruptive), endedAgo(8 * DAY, disruptive)])).toEqual([1]);
  });

  it('are deleted beyond the limit, the oldest first, but not while a rule reads their history', () => {
    const jobs = [endedAgo(HOUR), endedAgo(2 * HOUR), endedAgo(3 * HOUR)];
    expect(expired(jobs, { historyLimit: 1 })).toEqual([1, 2]);
    expect(expired(jobs, { historyLimit: 1, historySeconds: 2.5 * HOUR })).toEqual([2]);
  });

  it('are never deleted while they are at work, hold their finalizer or are being deleted', () => {
    const old = 30 * DAY;
    const settling = endedAgo(old);
    const deleted = endedAgo(old);
    expect(
      expired([
        remedyJob({ begun: old }),
        { ...settling, metadata: { ...settling.metadata, finalizers: ['kubenode.dev/settle'] } },
        { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ]),
    ).toEqual([]);
  });
});

function ref(fact: string, windowSeconds: number) {
  return { fact, params: { windowSeconds }, key: fact };
}

describe('longestHistory', () => {
  it('is the longest window of the facts that are counted from jobs', () => {
    expect(longestHistory([])).toBe(0);
    expect(longestHistory([ref('history', 3600), ref('fleet', 60), ref('xid', 604_800)])).toBe(3600);
    expect(longestHistory([ref('history', 60), ref('fleet', 7200)])).toBe(7200);
  });
});
