import { describe, expect, it } from 'vitest';
import type { WorkReport } from '../../../../src/sync/cluster-report.ts';
import { hubProblem } from '../../../../src/sync/hub/pipeline/own-objects.ts';

const work = (state: WorkReport['state'], failures: WorkReport['failures'] = []): WorkReport => ({
  digest: 'd',
  state,
  reason: 'Reason',
  message: 'a sentence',
  objects: { total: 1, applied: 1, pruned: 0, failed: 0 },
  failures,
});
const FAILURE = { object: 'Cluster a', reason: 'Waiting', message: 'another Pipeline owns it' };

describe('hubProblem', () => {
  it.each<[name: string, report: Parameters<typeof hubProblem>[0], expected: string | undefined]>([
    ['nothing before the first reconcile', {}, undefined],
    ['nothing while everything is applied', { work: work('Applied') }, undefined],
    ['nothing while objects are on their way', { work: work('Applying') }, undefined],
    ['a plan that is held', { work: work('Held') }, 'Held Reason'],
    ['an object that the server refused', { work: work('Failed', [FAILURE]) }, 'Failed Reason'],
    ['an object that waits for another owner', { work: work('Applying', [FAILURE]) }, 'Failed Reason'],
    [
      'a reconcile that failed, whatever the last one found',
      { work: work('Applied'), failure: { reason: 'InventoryDamaged', message: 'damaged' } },
      'Failed InventoryDamaged',
    ],
  ])('is %s', (_, report, expected) => {
    const found = hubProblem(report);
    expect(found && `${found.state} ${found.reason}`).toBe(expected);
  });
});
