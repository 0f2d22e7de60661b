import { describe, expect, it } from 'vitest';
import { planPlacement } from '../../../src/defender/capacity/place.ts';
import { capacityOf, nodeOf, podOf } from './builders.ts';

const HOST = 'kubernetes.io/hostname';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

function term(kind: string, app: string, more: object = {}): object {
  const selector = { labelSelector: { matchLabels: { app } }, topologyKey: HOST };
  return { affinity: { [kind]: { [REQUIRED]: [{ ...selector, ...more }] } } };
}

function spread(maxSkew: number, more: object = {}): object {
  const labelSelector = { matchLabels: { app: 'api' } };
  const constraint = {
    maxSkew,
    topologyKey: HOST,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector,
    ...more,
  };
  return { topologySpreadConstraints: [constraint] };
}

/** The Pod api-1 leaves node a; the others are on node b. */
function explain(own: object, others: readonly (readonly [string, object])[], inLabels = {}): string {
  const nodes = [nodeOf('a'), nodeOf('b', { labels: inLabels })];
  const pods = [podOf('api-1', 'a', {}, own), ...others.map(([name, more]) => podOf(name, 'b', {}, more))];
  const { nowhere, unknown } = planPlacement({ capacity: capacityOf(nodes, pods), node: 'a', inWork: [] });
  return [...nowhere.map(({ because }) => because), ...unknown.map(() => 'unknown')].join() || 'fits';
}

const NEAR = 'podAffinity';
const APART = 'podAntiAffinity';

describe('topology of other Pods', () => {
  it.each([
    ['apart from Pods there', term(APART, 'db'), [['db', {}]], 'anti-affinity to Pods there on 1 node'],
    ['apart from others', term(APART, 'db'), [['cache', {}]], 'fits'],
    ['apart in another namespace', term(APART, 'db', { namespaces: ['shop'] }), [['db', {}]], 'fits'],
    [
      'apart in every namespace',
      term(APART, 'db', { namespaceSelector: {} }),
      [['db', {}]],
      'anti-affinity to Pods there on 1 node',
    ],
    [
      'apart by labels of namespaces',
      term(APART, 'db', { namespaceSelector: { matchLabels: { a: 'b' } } }),
      [],
      'unknown',
    ],
    ['a Pod there keeps it away', {}, [['db', term(APART, 'api')]], 'anti-affinity of web/db on 1 node'],
    ['near to a Pod there', term(NEAR, 'db'), [['db', {}]], 'fits'],
    ['near to no Pod', term(NEAR, 'db'), [], 'no Pods there that it must be near to on 1 node'],
    ['near to itself, as the first', term(NEAR, 'api'), [], 'fits'],
    ['a missing label', term(NEAR, 'api', { topologyKey: 'rack' }), [], 'no label rack on 1 node'],
    ['a spread that holds', spread(1), [], 'fits'],
    [
      'a spread with the node that is left',
      spread(1),
      [['api-2', {}]],
      'spread over kubernetes.io/hostname on 1 node',
    ],
    ['a wider spread', spread(2), [['api-2', {}]], 'fits'],
    [
      'too few domains',
      spread(1, { minDomains: 3 }),
      [['api-2', {}]],
      'spread over kubernetes.io/hostname on 1 node',
    ],
    [
      'a spread that only prefers',
      spread(1, { whenUnsatisfiable: 'ScheduleAnyway' }),
      [['api-2', {}]],
      'fits',
    ],
    ['a spread without its skew', spread(1, { maxSkew: 'x' }), [], 'unknown'],
  ] as const)('R28 keeps a Pod from a node, or not: %s', (_, own, others, expected) => {
    expect(explain(own, others)).toBe(expected);
  });

  it.each([
    ['in another namespace', { namespace: 'shop' }, spread(1)],
    ['on selected nodes only', {}, { ...spread(1), nodeSelector: { rack: 'r1' } }],
  ])('R28 counts for each spread apart: %s', (_, metadata, other) => {
    const nodes = [nodeOf('a'), nodeOf('b', { labels: { rack: 'r1' } })];
    const [first, second] = [podOf('api-1', 'a', {}, spread(1)), podOf('api-2', 'a', {}, other)];
    const moved = { ...second, metadata: { ...second.metadata, ...metadata } };
    const capacity = capacityOf(nodes, [first, moved, podOf('api-3', 'b', {})]);
    const { nowhere } = planPlacement({ capacity, node: 'a', inWork: [] });
    expect(nowhere.map(({ pod }) => pod)).toEqual(['web/api-1']);
  });
});
