import { describe, expect, it } from 'vitest';
import { explainNoRoom, findRoom, type RoomSearch } from '../../../src/defender/capacity/find-room.ts';
import type { PlaceRequest, Room } from '../../../src/defender/capacity/node-checks.ts';
import { capacityPod } from '../../../src/defender/capacity/pod.ts';
import type { TopologyRule } from '../../../src/defender/capacity/topology.ts';
import { capacityOf, nodeOf, podOf } from './builders.ts';

const capacity = capacityOf(
  ['a', 'b', 'c'].map((name) => nodeOf(name, name === 'a' ? { ready: 'False' } : {})),
  [],
);

/** Node a takes no Pods. */
function rooms(): readonly Room[] {
  return [...capacity.slots()].flatMap((slot) =>
    slot.node ? [{ slot, node: slot.node, added: [], cpu: slot.cpu, memory: slot.memory }] : [],
  );
}

const { needs } = capacityPod(podOf('api-1', 'x', { cpu: '3' }));

function request(rules: readonly TopologyRule[] = []): PlaceRequest {
  if (!needs) throw new Error('no needs');
  return { needs, home: undefined, rules, cpu: 3000, memory: 0 };
}

function begin(): RoomSearch {
  return { kept: [], next: 0 };
}

function notAnywhere({ name }: { readonly name: string }): string {
  return `kept from ${name}`;
}

function notOn(name: string): TopologyRule {
  return (node) => (node.name === name ? 'kept away' : undefined);
}

describe('findRoom', () => {
  it('R28 finds the first node, and after it is full the next one', () => {
    const [all, search] = [rooms(), begin()];
    const found = findRoom(all, search, request());
    expect(found?.node.name).toBe('b');
    expect(findRoom(all, search, request())?.node.name).toBe('b');
    if (found) found.cpu -= 3000;
    expect(findRoom(all, search, request())?.node.name).toBe('c');
    expect(search.next).toBe(3);
  });

  it('R28 comes back to a node that other Pods alone kept the last one away from', () => {
    const [all, search] = [rooms(), begin()];
    expect(findRoom(all, search, request([notOn('b')]))?.node.name).toBe('c');
    expect(findRoom(all, search, request([notOn('b'), notOn('c')]))).toBeUndefined();
    expect(findRoom(all, search, request())?.node.name).toBe('b');
  });
});

describe('explainNoRoom', () => {
  it('R28 counts the nodes for each cause, the nearest first, and at most three', () => {
    expect(explainNoRoom(rooms(), request([notOn('b'), notOn('c')]))).toBe(
      'kept away on 2 nodes, not Ready on 1 node',
    );
    const four = [...rooms(), ...rooms().slice(1), ...rooms().slice(1)];
    expect(explainNoRoom(four, request([notAnywhere]))).toBe(
      'kept from b on 3 nodes, kept from c on 3 nodes, not Ready on 1 node',
    );
    expect(explainNoRoom([], request())).toBe('there is no other node');
  });
});
