import { describe, expect, it } from 'vitest';
import type { Release } from '../../../../src/api/generated/types.ts';
import { withStageChanges } from '../../../../src/sync/promote/release/stage-changes.ts';

const PLAN = { digest: 'sha256:0', clusters: 3, changed: 0, deletes: 0, unexercised: 0 };
const RELEASE = { spec: { plan: PLAN } } as unknown as Release;
const STAGES = [
  { stage: 'test', clusters: [{ cluster: 'test-1', commit: 'c2' }] },
  {
    stage: 'prod',
    clusters: [
      { cluster: 'prod-1', commit: 'c1' },
      { cluster: 'prod-2', commit: undefined },
    ],
  },
];
const NOTHING = { creates: 0, updates: 0, deletes: 0 };

describe('withStageChanges', () => {
  it('FST-2 counts what each stage changes against what its clusters have now', () => {
    const counts = new Map([
      ['test-1', NOTHING],
      ['prod-1', { creates: 0, updates: 1, deletes: 400 }],
      ['prod-2', { creates: 5, updates: 0, deletes: 0 }],
    ]);
    expect(withStageChanges(RELEASE, STAGES, counts).spec.plan).toEqual({
      ...PLAN,
      changed: 2,
      deletes: 400,
      stages: [
        { name: 'test', clusters: 1, changed: 0, ...NOTHING },
        { name: 'prod', clusters: 2, changed: 2, creates: 5, updates: 1, deletes: 400 },
      ],
    });
  });

  it('FST-2 gives no counts when those of a cluster are unknown', () => {
    const counts = new Map([
      ['test-1', NOTHING],
      ['prod-1', NOTHING],
    ]);
    expect(withStageChanges(RELEASE, STAGES, counts)).toBe(RELEASE);
  });
});
