import { describe, expect, it } from 'vitest';
import { capacityNode } from '../../../src/defender/capacity/node.ts';
import { matchesNode, refusingTaint } from '../../../src/defender/capacity/node-rules.ts';
import { capacityPod, type PodNeeds } from '../../../src/defender/capacity/pod.ts';
import { nodeOf, podOf } from './builders.ts';

function needs(spec: object): PodNeeds {
  const found = capacityPod(podOf('api', 'a', {}, spec)).needs;
  if (!found) throw new Error('the needs of the Pod cannot be read');
  return found;
}

const NODE = capacityNode(nodeOf('a', { labels: { disk: 'ssd', cores: '8' } }));

function affinity(...nodeSelectorTerms: readonly object[]): object {
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
}

function term(key: string, operator: string, ...values: readonly string[]): object {
  return { matchExpressions: [{ key, operator, values }] };
}

describe('matchesNode', () => {
  it.each([
    [{}, true],
    [{ nodeSelector: { disk: 'ssd' } }, true],
    [{ nodeSelector: { disk: 'hdd' } }, false],
    [{ nodeSelector: { constructor: 'x' } }, false],
    [affinity(), false],
    [affinity({}), false],
    [affinity(term('disk', 'In', 'hdd'), term('disk', 'Exists')), true],
    [affinity(term('disk', 'NotIn', 'ssd')), false],
    [affinity(term('rack', 'NotIn', 'r1')), true],
    [affinity(term('rack', 'DoesNotExist')), true],
    [affinity(term('cores', 'Gt', '4')), true],
    [affinity(term('cores', 'Lt', '4')), false],
    [affinity(term('disk', 'Gt', '4')), false],
    [affinity(term('disk', 'Like', 'ssd')), false],
    [affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }), true],
    [affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }), false],
  ])('R28 selects a node as the scheduler does: %j', (spec, expected) => {
    expect(matchesNode(needs(spec), NODE)).toBe(expected);
  });
});

describe('refusingTaint', () => {
  const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };

  it.each([
    [[], 'gpu'],
    [[{ operator: 'Exists' }], undefined],
    [[{ key: 'gpu', operator: 'Exists' }], undefined],
    [[{ key: 'gpu', value: 'yes' }], undefined],
    [[{ key: 'gpu', value: 'no' }], 'gpu'],
    [[{ key: 'gpu', value: 'yes', effect: 'NoExecute' }], 'gpu'],
    [[{ value: 'yes' }], 'gpu'],
  ])('R28 refuses a Pod that does not tolerate it: %j', (tolerations, expected) => {
    expect(refusingTaint(needs({ tolerations }), { taints: [taint] })?.key).toBe(expected);
  });

  it('R28 ignores taints that only prefer other nodes', () => {
    const soft = nodeOf('b', { spec: { taints: [{ ...taint, effect: 'PreferNoSchedule' }] } });
    expect(capacityNode(soft).taints).toEqual([]);
  });
});
