import { describe, expect, it } from 'vitest';
import {
  isKeptOnPrune,
  ownerOf,
  withOwnerLabels,
} from '../../../../src/sync/apply/inventory/owner-labels.ts';
import { COMMIT, configMap, HUB, live, OTHER_HUB, OTHER_UNIT, UNIT, withLabels } from '../fixtures.ts';

const a = configMap('a');
const claim = { hub: HUB, unit: UNIT };
const IN_HUB = { 'kubenode.dev/unit': 'fleet.web' };

describe('ownerOf', () => {
  it.each([
    ['ours', live(a), claim],
    ['nobody', a, claim],
    ['other-hub', withLabels(live(a), OTHER_HUB), claim],
    ['other-unit', withLabels(live(a), OTHER_UNIT), claim],
    ['ours', withLabels(live(a), OTHER_UNIT), { ...claim, from: 'other' }],
    ['ours', withLabels(live(a), OTHER_UNIT), { ...claim, uid: 'uid-a' }],
    [
      'ours',
      withLabels({ ...a, metadata: { ...a.metadata, uid: 'uid-a' } }, { 'kubenode.dev/hub': HUB }),
      { ...claim, uid: 'uid-a' },
    ],
    ['other-unit', withLabels(live(a), OTHER_UNIT), { ...claim, uid: 'another' }],
    ['other-hub', withLabels(live(a), OTHER_HUB), { ...claim, uid: 'uid-a' }],
    ['nobody', { ...a, metadata: { ...a.metadata, uid: 'uid-a' } }, { ...claim, uid: 'uid-a' }],
    ['other-pipeline', withLabels(live(a), IN_HUB), { ...claim, uid: 'uid-a' }],
    ['other-pipeline', withLabels(live(a), IN_HUB), { hub: HUB, unit: 'another.web' }],
    ['ours', withLabels(live(a), IN_HUB), { hub: HUB, unit: 'fleet.other', uid: 'uid-a' }],
    ['other-unit', withLabels(a, { 'kubenode.dev/hub': HUB }), claim],
  ] as const)('S4 recognizes the owner of an object by its labels: %s', (owner, object, ownerClaim) => {
    expect(ownerOf(object, ownerClaim)).toBe(owner);
  });
});

describe('withOwnerLabels', () => {
  it('S7 adds labels and annotations and changes nothing else', () => {
    const object = { ...a, metadata: { ...a.metadata, labels: { app: 'web' } } };
    const source = { file: 'fleet/main.ts:7', construct: 'test/web/a' };
    expect(withOwnerLabels({ object, source }, { ...claim, commit: COMMIT })).toEqual({
      ...a,
      metadata: {
        ...a.metadata,
        labels: { app: 'web', 'kubenode.dev/hub': HUB, 'kubenode.dev/unit': UNIT },
        annotations: {
          'kubenode.dev/commit': COMMIT,
          'kubenode.dev/source': 'fleet/main.ts:7 test/web/a',
        },
      },
    });
  });
});

it('S4 keeps an object with kubenode.dev/prune: Never, and no other', () => {
  const annotated = (value: string): typeof a => ({
    ...a,
    metadata: { ...a.metadata, annotations: { 'kubenode.dev/prune': value } },
  });
  expect([a, annotated('Never'), annotated('never')].map(isKeptOnPrune)).toEqual([false, true, false]);
});
