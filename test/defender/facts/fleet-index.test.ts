import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countStates, type MachineFacts, STATE_BITS } from '../../../src/defender/facts/facts.ts';
import { createFleetIndex } from '../../../src/defender/facts/fleet-index.ts';
import { createGrouping, groupKey } from '../../../src/defender/facts/grouping.ts';
import { machineFacts, NOW } from '../builders.ts';

const POOLS = createGrouping({ all: true }, 'Pool');
const RACKS = createGrouping({ all: false, matchLabels: { gpu: 'true' } }, 'Label', 'rack');
const GROUPINGS = [POOLS, RACKS, createGrouping({ all: true }, 'Cluster')];

describe('createFleetIndex', () => {
  it('R15 counts a machine without the key in a group of its own', () => {
    const index = filled([
      machineFacts('m-1', { labels: { gpu: 'true' } }),
      machineFacts('m-2', { labels: { gpu: 'true', rack: 'r1' } }),
      machineFacts('m-3', { labels: { rack: 'r1' } }),
    ]);
    expect(index.groupKeys(RACKS.id)).toEqual(['(none)', 'r1']);
    expect(index.group(RACKS.id, 'r1').total).toBe(1);
    expect(index.group(POOLS.id, 'web').total).toBe(3);
  });

  it('R15 counts by a label key that every object has', () => {
    const keys = ['constructor', 'toString'].map((key) => createGrouping({ all: true }, 'Label', key));
    expect(keys.map((grouping) => groupKey(grouping, machineFacts('m-1')))).toEqual(['(none)', '(none)']);
  });

  it('R14 counts a machine once, however many states it is in', () => {
    const index = filled([machineFacts('m-1', { readiness: 'NotReady', cordoned: true, taints: ['other'] })]);
    const counts = index.group(POOLS.id, 'web');
    expect(countStates(counts, STATE_BITS.NotReady | STATE_BITS.Cordoned)).toBe(1);
    expect(countStates(counts, STATE_BITS.ForeignMaintenance)).toBe(1);
    expect(countStates(counts, STATE_BITS.Unknown)).toBe(0);
  });

  it('counts no machine that was never Ready, and lists those that are Unknown', () => {
    const index = filled([
      machineFacts('m-1', { established: false, readiness: 'NotReady' }),
      machineFacts('m-2', { readiness: 'Unknown', unknownSince: NOW }),
    ]);
    expect(index.group(POOLS.id, 'web').total).toBe(1);
    expect(index.unknownSince()).toEqual([NOW]);
    index.remove('m-2');
    expect([index.unknownSince(), index.groupKeys(POOLS.id), index.machine('m-2')]).toEqual([
      [],
      [],
      undefined,
    ]);
  });

  it('lists the machines whose Nodes were created after a moment, after any changes', () => {
    const age = fc.integer({ min: 0, max: 200 });
    const anyMachine = fc.record({
      name: fc.constantFrom('m-1', 'm-2', 'm-3', 'm-4'),
      age: fc.option(age, { nil: undefined }),
      established: fc.boolean(),
      isRemoved: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyMachine), age, (changes, since) => {
        const index = createFleetIndex();
        const ages = new Map<string, number>();
        for (const { name, age: created, established, isRemoved } of changes) {
          ages.delete(name);
          if (isRemoved) {
            index.remove(name);
            continue;
          }
          const nodeCreatedAt = created === undefined ? {} : { nodeCreatedAt: minutesAgo(created) };
          index.put(machineFacts(name, { established, ...nodeCreatedAt }));
          if (established && created !== undefined) ages.set(name, created);
        }
        const expected = [...ages].flatMap(([name, created]) => (created < since ? name : []));
        const found = index.createdAfter(minutesAgo(since)).map(({ name }) => name);
        expect(found.toSorted()).toEqual(expected.toSorted());
      }),
    );
  });

  it('R14 has the same counts after any changes as when it counts all machines at once', () => {
    const anyMachine = fc.record({
      name: fc.constantFrom('m-1', 'm-2', 'm-3', 'm-4'),
      pool: fc.constantFrom('web', 'db'),
      readiness: fc.constantFrom('Ready' as const, 'NotReady' as const, 'Unknown' as const),
      cordoned: fc.boolean(),
      isRemoved: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyMachine, { maxLength: 30 }), (changes) => {
        const index = filled([]);
        const present = new Map<string, MachineFacts>();
        for (const { isRemoved, name, ...facts } of changes) {
          if (isRemoved) {
            index.remove(name);
            present.delete(name);
          } else {
            index.put(machineFacts(name, facts));
            present.set(name, machineFacts(name, facts));
          }
        }
        const fresh = filled([...present.values()]);
        for (const { id } of GROUPINGS) {
          expect(index.groupKeys(id).toSorted()).toEqual(fresh.groupKeys(id).toSorted());
          for (const key of fresh.groupKeys(id)) expect(index.group(id, key)).toEqual(fresh.group(id, key));
        }
        const inWeb = [...present.values()].filter((each) => groupKey(POOLS, each) === 'web');
        expect(index.group(POOLS.id, 'web').total).toBe(inWeb.length);
      }),
    );
  });
});

function filled(machines: readonly MachineFacts[]): ReturnType<typeof createFleetIndex> {
  const index = createFleetIndex();
  for (const machine of machines) index.put(machine);
  index.setGroupings(GROUPINGS, ({ taints }) => taints.includes('other'));
  return index;
}

function minutesAgo(count: number): Date {
  return new Date(+NOW - count * 60_000);
}
