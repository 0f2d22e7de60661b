import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sign } from '../../../src/api/diagnosis/evidence.ts';
import { choosePeers, judgePeers, type PeerPlace } from '../../../src/api/diagnosis/peers.ts';

const ZONES = ['a', 'b', 'c'];
const FLEET = Array.from(
  { length: 60 },
  (_, index): PeerPlace => ({ name: `m-${index}`, zone: ZONES[index % 3] }),
);
const SUBJECT: PeerPlace = { name: 'm-0', zone: 'a' };

const names = (peers: readonly PeerPlace[]): readonly string[] => peers.map(({ name }) => name);
const judged = (near: string, far = ''): Sign => {
  const signs: Record<string, Sign> = { a: 'Alive', s: 'Silent', u: 'Unknown' };
  return judgePeers({ near: near.split(''), far: far.split('') }, (each) => signs[each] ?? 'Unknown');
};

describe('choosePeers', () => {
  it('R20 chooses three machines of the zone and three of others, and never the machine itself', () => {
    const { near, far } = choosePeers(SUBJECT, FLEET);
    expect([near.length, far.length]).toEqual([3, 3]);
    expect(near.every(({ zone }) => zone === 'a')).toBe(true);
    expect(far.every(({ zone }) => zone !== 'a')).toBe(true);
    expect(names([...near, ...far])).not.toContain('m-0');
    expect(choosePeers(SUBJECT, [SUBJECT])).toEqual({ near: [], far: [] });
  });

  it('R20 chooses the same peers in whatever order the machines are listed', () => {
    const expected = choosePeers(SUBJECT, FLEET);
    fc.assert(
      fc.property(fc.shuffledSubarray(FLEET, { minLength: 60 }), (fleet) => {
        expect(choosePeers(SUBJECT, fleet)).toEqual(expected);
      }),
    );
  });

  it('chooses from the rack where racks are labeled', () => {
    const racked = FLEET.map((each, index) => ({ ...each, rack: `r${index % 12}` }));
    const { near, far } = choosePeers({ ...SUBJECT, rack: 'r0' }, racked);
    expect(near.every(({ rack }) => rack === 'r0')).toBe(true);
    expect(far.some(({ rack }) => rack === 'r0')).toBe(false);
    const other = [{ name: 'x', zone: 'b', rack: 'r0' }];
    expect(choosePeers({ ...SUBJECT, rack: 'r0' }, other).near).toEqual([]);
  });

  it('spreads over the fleet, so that no machine is a peer of many', () => {
    const uses = new Map<string, number>();
    for (const subject of FLEET) {
      for (const { name } of choosePeers(subject, FLEET).near) uses.set(name, (uses.get(name) ?? 0) + 1);
    }
    expect(Math.max(...uses.values())).toBeLessThan(12);
    expect(uses.size).toBeGreaterThan(45);
  });
});

describe('judgePeers', () => {
  it.each<[near: string, far: string, expected: Sign]>([
    ['aaa', '', 'Alive'],
    ['aas', '', 'Alive'],
    ['ass', 'aaa', 'Silent'],
    ['sss', 'aaa', 'Silent'],
    ['asu', 'aaa', 'Alive'],
    ['asu', 'sss', 'Silent'],
    ['auu', '', 'Unknown'],
    ['auu', 'aaa', 'Alive'],
    ['', 'aaa', 'Alive'],
    ['s', 'aaa', 'Unknown'],
    ['suu', 'aaa', 'Unknown'],
    ['suu', 'sss', 'Unknown'],
    ['a', 'a', 'Unknown'],
    ['', '', 'Unknown'],
  ])('R20 judges near peers %s and far peers %s', (near, far, expected) => {
    expect(judged(near, far)).toBe(expected);
  });
});
