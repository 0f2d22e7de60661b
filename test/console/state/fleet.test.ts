import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findTile,
  groupFleet,
  groupFleetBy,
  hasSeveralPipelines,
  NO_STAGE,
  regroupFleet,
} from '../../../src/console/state/fleet.ts';
import { applyPatch, type ConsolePatch, diffStates } from '../../../src/console/state/patch.ts';
import type { ConsoleState, MachineTile } from '../../../src/console/state/state.ts';
import type { ZoneGroup } from '../../../src/console/state/tile-blocks.ts';
import { clusterLine, stateOf } from '../fixtures.ts';

const lines = {
  prod: clusterLine('prod', { order: 2 }),
  test: clusterLine('test', { order: 0, stage: 'test' }),
  'prod-b': clusterLine('prod-b', { order: 1 }),
  here: clusterLine('here', { order: 3, stage: '' }),
};

function namesIn({ blocks }: ZoneGroup): readonly string[] {
  return blocks.flat().map(({ name }) => name);
}

describe('groupFleet', () => {
  it('puts clusters into stages in their order, and machines into zones by name', () => {
    const machines = {
      'prod/m-2': { p: 'Ready', z: 'b' },
      'prod/m-3': { p: 'Ready' },
      'prod/m-1': { p: 'Ready', z: 'b' },
      'prod/m-4': { p: 'Ready', z: 'a' },
    };
    const { stages } = groupFleet({ clusters: lines, machines });
    expect(stages.map(({ stage, clusters }) => [stage, clusters.map(({ line }) => line.name)])).toEqual([
      ['test', ['test']],
      ['prod', ['prod-b', 'prod']],
      [NO_STAGE, ['here']],
    ]);
    const prod = stages[1]?.clusters[1];
    expect([prod?.machines, prod?.zones.map((zone) => [zone.zone, zone.machines, namesIn(zone)])]).toEqual([
      4,
      [
        ['a', 1, ['m-4']],
        ['b', 2, ['m-1', 'm-2']],
        ['no zone', 1, ['m-3']],
      ],
    ]);
  });

  it('shows no machine of a cluster that is not listed', () => {
    expect(groupFleet(stateOf({ 'gone/m-1': 'Ready' })).stages).toEqual([]);
  });

  it('counts the phases of a zone, the most frequent first', () => {
    const phases = { 'a/m-1': 'Ready', 'a/m-2': 'Stalled', 'a/m-3': 'Ready', 'a/m-4': 'Held' };
    const { stages } = groupFleet(stateOf(phases, { clusters: { a: clusterLine('a') } }));
    expect(stages[0]?.clusters[0]?.zones[0]?.counts).toEqual([
      ['Ready', 2],
      ['Held', 1],
      ['Stalled', 1],
    ]);
  });
});

describe('groupFleetBy', () => {
  const clusters = { a: clusterLine('a') };
  const machines = {
    'a/m-1': { p: 'Ready', z: 'x', l: 'gpu', v: 'kubelet-1' },
    'a/m-2': { p: 'Ready', z: 'y', l: 'gpu', v: 'kubelet-2' },
    'a/m-3': { p: 'Ready', z: 'x' },
  };

  it.each([
    ['zone', { x: ['m-1', 'm-3'], y: ['m-2'] }],
    ['pool', { gpu: ['m-1', 'm-2'], 'no pool': ['m-3'] }],
    ['version', { 'kubelet-1': ['m-1'], 'kubelet-2': ['m-2'], 'no version reported': ['m-3'] }],
  ] as const)('groups the machines by %s', (by, expected) => {
    const groups = groupFleetBy(groupFleet({ clusters, machines }), clusters, by);
    const zones = groups.stages[0]?.clusters[0]?.zones ?? [];
    expect(Object.fromEntries(zones.map((zone) => [zone.zone, namesIn(zone)]))).toEqual(expected);
  });

  it('keeps to the grouping when a machine gets another version', () => {
    const before = groupFleetBy(groupFleet({ clusters, machines }), clusters, 'version');
    const set = { 'a/m-1': { p: 'Ready', v: 'kubelet-2' } };
    const after = regroupFleet(before, clusters, { machines: { set, removed: [] } });
    expect(after.by).toBe('version');
    expect(after.stages[0]?.clusters[0]?.zones.map((zone) => [zone.zone, namesIn(zone)])).toEqual([
      ['kubelet-2', ['m-1', 'm-2']],
      ['no version reported', ['m-3']],
    ]);
  });

  it('returns the same groups for the same grouping', () => {
    const groups = groupFleet({ clusters, machines });
    expect(groupFleetBy(groups, clusters, 'zone')).toBe(groups);
  });
});

/** Two zones of several blocks. */
function largeFleet(): ConsoleState {
  const indexes = Array.from({ length: 900 }, (_, index) => 1000 + index);
  const tiles = indexes.map((index) => [`a/m-${index}`, { p: 'Ready', z: `z${index % 2}` }] as const);
  return { ...stateOf({}), clusters: { a: clusterLine('a') }, machines: Object.fromEntries(tiles) };
}

describe('regroupFleet', () => {
  it('replaces the block and the zone of the machine that changed, and no other one', () => {
    const before = largeFleet();
    const change = { machines: { set: { 'a/m-1500': { p: 'Updating', z: 'z0' } }, removed: [] } };
    const [groups, after] = [groupFleet(before), applyPatch(before, change)];
    const zonesOf = ({ zones }: typeof groups): readonly ZoneGroup[] => zones.get('a') ?? [];
    const regrouped = regroupFleet(groups, after.clusters, change);
    expect(zonesOf(regrouped).map((zone, index) => zone === zonesOf(groups)[index])).toEqual([false, true]);
    const [old, now] = [zonesOf(groups)[0], zonesOf(regrouped)[0]];
    expect(now?.blocks.map((block, index) => block === old?.blocks[index])).toEqual([true, false, true]);
    expect(now?.counts).toEqual([
      ['Ready', 449],
      ['Updating', 1],
    ]);
  });

  it('keeps all zones when only clusters changed, and everything when neither did', () => {
    const before = largeFleet();
    const groups = groupFleet(before);
    const change = { clusters: { set: { a: clusterLine('a', { state: 'Failed' }) }, removed: [] } };
    const regrouped = regroupFleet(groups, applyPatch(before, change).clusters, change);
    expect(regrouped.zones).toBe(groups.zones);
    expect(regrouped.stages[0]?.clusters[0]?.line.state).toBe('Failed');
    expect(regroupFleet(groups, before.clusters, {})).toBe(groups);
  });

  it('groups as if it began with each state, whatever changes', () => {
    const tile: fc.Arbitrary<MachineTile> = fc.record(
      { p: fc.constantFrom('Ready', 'Held', 'Updating'), z: fc.constantFrom('x', 'y') },
      { requiredKeys: ['p'] },
    );
    const key = fc.tuple(fc.constantFrom('a', 'b', 'gone'), fc.nat(30)).map(([c, i]) => `${c}/m-${i}`);
    const state = fc
      .record({
        machines: fc.dictionary(key, tile, { maxKeys: 40, noNullPrototype: true }),
        order: fc.nat(2),
      })
      .map(({ machines, order }) => ({
        ...stateOf({}),
        machines,
        clusters: { a: clusterLine('a', { order }), b: clusterLine('b', { order: 1, stage: 'test' }) },
      }));
    fc.assert(
      fc.property(fc.array(state, { minLength: 2, maxLength: 5 }), ([first, ...later]) => {
        let [shown, groups] = [first as ConsoleState, groupFleet(first as ConsoleState)];
        for (const next of later) {
          const change: ConsolePatch = diffStates(shown, next) ?? {};
          groups = regroupFleet(groups, next.clusters, change);
          shown = next;
          expect(groups.stages).toEqual(groupFleet(next).stages);
          const keys = [...Object.keys(next.machines), 'a/none'];
          expect(keys.map((found) => findTile(groups, found))).toEqual(
            keys.map((found) => next.machines[found]),
          );
        }
      }),
    );
  });

  it('groups as if it began with each state when single tiles change', () => {
    const start = largeFleet();
    const change = fc.tuple(fc.integer({ min: 1000, max: 1899 }), fc.constantFrom('Ready', 'Held'));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let [state, groups] = [start, groupFleet(start)];
        for (const [index, p] of changes) {
          const patch = { machines: { set: { [`a/m-${index}`]: { p, z: `z${index % 2}` } }, removed: [] } };
          state = applyPatch(state, patch);
          groups = regroupFleet(groups, state.clusters, patch);
        }
        expect(groups.stages).toEqual(groupFleet(state).stages);
      }),
      { numRuns: 30 },
    );
  });
});

it('groups clusters by the stage of their Pipeline: two Pipelines may have one of the same name', () => {
  const clusters = {
    a: clusterLine('a', { pipeline: 'edge', stage: 'test' }),
    b: clusterLine('b', { pipeline: 'fleet', stage: 'test', order: 1 }),
    c: clusterLine('c', { pipeline: 'edge', stage: 'prod', order: 2 }),
    d: clusterLine('d', { pipeline: 'fleet', stage: '', order: 3 }),
    e: clusterLine('e', { stage: '', order: 4 }),
  };
  const { stages } = groupFleet(stateOf({}, { clusters }));
  const texts = stages.map(({ pipeline, stage, clusters: own }) => [pipeline, stage, own.length]);
  expect(texts).toEqual([
    ['edge', 'test', 1],
    ['edge', 'prod', 1],
    ['fleet', 'test', 1],
    ['', NO_STAGE, 2],
  ]);
  expect(hasSeveralPipelines(stages)).toBe(true);
  expect(hasSeveralPipelines(stages.slice(2))).toBe(false);
});
