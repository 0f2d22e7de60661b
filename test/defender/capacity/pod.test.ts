import { describe, expect, it } from 'vitest';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import { podOf } from './builders.ts';

const SPREAD = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };

describe('capacityPod', () => {
  it('R28 selects by the own labels that a spread names, and by none that the Pod lacks', () => {
    const constraint = { ...SPREAD, labelSelector: {}, matchLabelKeys: ['app', 'version'] };
    const { needs } = capacityPod(podOf('api-1', 'a', {}, { topologySpreadConstraints: [constraint] }));
    expect(needs?.spread[0]?.selector).toEqual({
      all: true,
      matchLabels: { app: 'api' },
      matchExpressions: [],
    });
  });

  it.each([
    [{ topologySpreadConstraints: [{ ...SPREAD, topologyKey: 1 }] }],
    [
      {
        topologySpreadConstraints: [
          { ...SPREAD, labelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } },
        ],
      },
    ],
    [{ nodeSelector: ['a'] }],
  ])('R28 does not know a Pod with a part that cannot be read: %j', (spec) => {
    expect(capacityPod(podOf('api-1', 'a', {}, spec)).needs).toBeUndefined();
  });
});
