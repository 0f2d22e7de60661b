import { describe, expect, it } from 'vitest';
import { blocksOf, findInBlocks, replaceInZones, zoneGroup } from '../../../src/console/state/tile-blocks.ts';

const TILES = Array.from({ length: 450 }, (_, index) => {
  const name = `m-${String(index).padStart(3, '0')}`;
  return { key: `a/${name}`, name, tile: { p: index % 100 === 0 ? 'Stalled' : 'Ready' } };
});
const ZONE = zoneGroup('z', blocksOf(TILES));

describe('a group of tiles', () => {
  it('counts its phases and tones, in blocks of 200', () => {
    expect(ZONE.blocks.map((block) => block.length)).toEqual([200, 200, 50]);
    expect([ZONE.machines, ZONE.counts, ZONE.tones]).toEqual([
      450,
      [
        ['Ready', 445],
        ['Stalled', 5],
      ],
      { good: 445, busy: 0, bad: 5, quiet: 0 },
    ]);
  });

  it('finds each machine, and none that does not exist', () => {
    expect(TILES.map(({ key }) => findInBlocks(ZONE.blocks, key)?.placed.key)).toEqual(
      TILES.map(({ key }) => key),
    );
    expect(findInBlocks(ZONE.blocks, 'a/m-1')).toBeUndefined();
    expect(findInBlocks([], 'a/m-001')).toBeUndefined();
  });

  it('replaces one tile in one block, and counts again', () => {
    const [after] = replaceInZones([ZONE], 'z', { key: 'a/m-250', tile: { p: 'Updating' } }) ?? [];
    expect(after?.blocks.map((block, index) => block === ZONE.blocks[index])).toEqual([true, false, true]);
    expect(after?.tones).toEqual({ good: 444, busy: 1, bad: 5, quiet: 0 });
  });

  it('replaces nothing in a group that does not have the machine', () => {
    expect(replaceInZones([ZONE], 'z', { key: 'a/new', tile: { p: 'Ready' } })).toBeUndefined();
    expect(replaceInZones([ZONE], 'other', { key: 'a/m-250', tile: { p: 'Ready' } })).toBeUndefined();
  });
});
