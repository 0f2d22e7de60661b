import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { declaredApprovals } from '../../../../src/sync/promote/gates/declared-approvals.ts';
import type { RenderedTarget } from '../../../../src/sync/rendered.ts';

function targetOf(target: string, objects: readonly KubeObject[]): RenderedTarget {
  const rendered = objects.map((object) => ({ object, source: {} }));
  return { target, units: [{ unit: 'pipelines', objects: rendered, digest: '' }], digest: '' };
}

describe('declaredApprovals', () => {
  it('S36 reads the approvals of the Pipeline of this name, and knows nothing of a Pipeline that is not declared', () => {
    const approval = { stage: 'prod', planDigest: 'sha256:1' };
    const pipeline = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'Pipeline',
      metadata: { name: 'fleet' },
      spec: { approvals: [{ ...approval, reason: 'reviewed' }] },
    };
    const foreign = { ...pipeline, apiVersion: 'tekton.dev/v1', spec: {} };
    const other = { ...pipeline, kind: 'Cluster', spec: {} };
    const inCluster = targetOf('a-cluster', [{ ...pipeline, spec: {} }]);
    const commit = { targets: [inCluster, targetOf('hub', [foreign, other, pipeline])] };
    expect(declaredApprovals(commit, 'fleet')).toEqual([approval]);
    expect(declaredApprovals(commit, 'other')).toBeUndefined();
    expect(declaredApprovals({ targets: [] }, 'fleet')).toBeUndefined();
    expect(declaredApprovals({ targets: [inCluster] }, 'fleet')).toBeUndefined();
  });
});
