import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterRows } from '../../../src/console/feeds/cluster-feed.ts';
import { createClusterMerge } from '../../../src/console/feeds/cluster-merge.ts';
import { NO_STATE } from '../../../src/console/state/state.ts';

const noteOf = (text: string): ClusterRows['notes'] => ({ [text]: { text, bad: false } });

function clusterOf(name: string, phases: readonly string[] = ['Ready']): ClusterRows {
  const machines = phases.map((p, index) => [`${name}/m-${index}`, { p }] as const);
  return { ...NO_STATE, machines: Object.fromEntries(machines), notes: noteOf(name) };
}

describe('createClusterMerge', () => {
  it('neither copies nor loses a section that changed in no cluster', () => {
    const merge = createClusterMerge();
    const [a, b] = [clusterOf('a'), clusterOf('b')];
    const before = merge([a, b]);
    expect(Object.keys(before.machines)).toEqual(['a/m-0', 'b/m-0']);
    const after = merge([a, { ...b, notes: noteOf('c') }]);
    expect(after.machines).toBe(before.machines);
    expect(Object.keys(after.notes)).toEqual(['a', 'c']);
    expect(merge([a, { ...b, notes: noteOf('c') }]).machines).toBe(before.machines);
  });

  it('does not copy the machines of a single cluster, also beside clusters without machines', () => {
    const one = clusterOf('a');
    const merge = createClusterMerge();
    expect(merge([one]).machines).toBe(one.machines);
    expect(merge([clusterOf('b', []), one]).machines).toBe(one.machines);
  });

  it('equals a merge from scratch after any sequence of changes', () => {
    const anyPhases = fc.array(fc.constantFrom('Ready', 'Held'), { maxLength: 3 });
    const anyPick = fc.record({
      cluster: fc.constantFrom('a', 'b', 'c'),
      phases: anyPhases,
      isNew: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(fc.array(anyPick, { maxLength: 3 }), { maxLength: 8 }), (steps) => {
        const merge = createClusterMerge();
        const known = new Map<string, ClusterRows>();
        for (const picks of steps) {
          for (const { cluster, phases, isNew } of picks) {
            if (isNew || !known.has(cluster)) known.set(cluster, clusterOf(cluster, phases));
          }
          const clusters = picks.flatMap(({ cluster }) => known.get(cluster) ?? []);
          expect(merge(clusters)).toEqual(createClusterMerge()(clusters));
        }
      }),
    );
  });
});
