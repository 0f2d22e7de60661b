import { describe, expect, it } from 'vitest';
import { declaredApprovals } from '../../../../src/sync/promote/gates/declared-approvals.ts';

describe('declaredApprovals', () => {
  it('S36 reads the approvals of the Pipeline of this name, and knows nothing of a Pipeline that is not declared', () => {
    const approval = { stage: 'prod', planDigest: 'sha256:1' };
    const pipeline = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Pipeline',
      metadata: { name: 'fleet' },
      spec: { approvals: [{ ...approval, reason: 'reviewed' }] },
    };
    const units = [{ unit: 'pipelines', objects: [{ object: pipeline, source: {} }], digest: '' }];
    const commit = { targets: [{ target: 'hub', units, digest: '' }] };
    expect(declaredApprovals(commit, 'fleet')).toEqual([approval]);
    expect(declaredApprovals(commit, 'other')).toBeUndefined();
    expect(declaredApprovals({ targets: [] }, 'fleet')).toBeUndefined();
  });
});
