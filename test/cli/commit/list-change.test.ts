import { describe, expect, it } from 'vitest';
import { addsExactly, declaredList } from '../../../src/cli/commit/list-change.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';

const OLD = { unit: 'web', planDigest: 'sha256:aa', reason: 'old' };
const NEW = { ...OLD, planDigest: 'sha256:bb' };
const WHICH = { pipeline: 'fleet', list: 'acknowledgements' };

function targets(acknowledgements: readonly object[] | undefined, more: object = {}): RenderedTarget[] {
  const spec = { stages: [], ...(acknowledgements ? { acknowledgements } : {}), ...more };
  const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Pipeline', metadata: { name: 'fleet' }, spec };
  const source = { file: `fleet/main.ts:${acknowledgements?.length ?? 0}` };
  return [{ target: 'hub', digest: '', units: [{ unit: 'p', digest: '', objects: [{ object, source }] }] }];
}

describe('addsExactly', () => {
  it.each([
    ['the first entry', undefined, targets([NEW]), true],
    ['an entry before others', [OLD], targets([NEW, OLD]), true],
    ['an entry instead of another one', [OLD], targets([NEW]), false],
    ['nothing', [OLD], targets([OLD]), false],
    ['the entry twice', [], targets([NEW, NEW]), false],
    ['the entry and another change', [], targets([NEW], { paused: true }), false],
    ['the entry, and removes an object', [], [], false],
  ])('tells whether a change adds %s', (_, before, after, expected) => {
    expect(addsExactly({ before: targets(before), after }, WHICH, [NEW])).toBe(expected);
  });
});

describe('declaredList', () => {
  it('is empty without the list, and undefined without the Pipeline', () => {
    expect(declaredList(targets(undefined), WHICH)).toEqual([]);
    expect(declaredList(targets([OLD]), WHICH)).toEqual([OLD]);
    expect(declaredList(targets([OLD]), { ...WHICH, pipeline: 'other' })).toBeUndefined();
  });
});
