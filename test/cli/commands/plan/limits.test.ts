import { describe, expect, it } from 'vitest';
import { readLimits } from '../../../../src/cli/commands/plan/limits.ts';
import { HUB_TARGET, type Rendered } from '../../../../src/sync/rendered.ts';

function renderedWith(spec?: object): Rendered {
  const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Pipeline', metadata: { name: 'fleet' }, spec };
  const unit = { unit: 'pipelines', objects: [{ object, source: {} }], digest: '' };
  const units = spec === undefined ? [] : [unit];
  return { commit: 'a', targets: [{ target: HUB_TARGET, units, digest: '' }] };
}

describe('readLimits', () => {
  it('uses the budget before the change, so that no commit raises its own', () => {
    const before = renderedWith({ deleteBudget: { maxObjects: 3, maxPercent: 5 } });
    const after = renderedWith({ deleteBudget: { maxObjects: 1000, maxPercent: 100 } });
    expect(readLimits(before, after).budget).toEqual({ maxObjects: 3, maxPercent: 5 });
  });

  it('uses the defaults of the kind for omitted fields', () => {
    expect(readLimits(renderedWith({ deleteBudget: { maxObjects: 3 } }), renderedWith({})).budget).toEqual({
      maxObjects: 3,
      maxPercent: 20,
    });
    expect(readLimits(renderedWith(), renderedWith()).budget).toEqual({ maxObjects: 10, maxPercent: 20 });
  });

  it('uses the acknowledgements after the change', () => {
    const acknowledgement = { unit: 'test.shop', planDigest: 'sha256:1', reason: 'reviewed' };
    expect(readLimits(renderedWith(), renderedWith({ acknowledgements: [acknowledgement] }))).toMatchObject({
      acknowledgements: [{ unit: 'test.shop', planDigest: 'sha256:1' }],
    });
    expect(readLimits(renderedWith({ acknowledgements: [acknowledgement] }), renderedWith({}))).toMatchObject(
      {
        acknowledgements: [],
      },
    );
  });
});
