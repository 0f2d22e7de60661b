/** Keeps the machines of a group in blocks, so that a change replaces one block and the page draws few tiles again. Pure; runs in the page. */
import { machineSign, type PhaseTone } from './signs.ts';
import type { MachineTile } from './state.ts';

export interface ZoneGroup {
  /** The zone, or the pool or the versions that the machines have in common. */
  readonly zone: string;
  readonly machines: number;
  /** The number of machines of each phase, the most frequent first. */
  readonly counts: readonly (readonly [phase: string, count: number])[];
  readonly tones: Readonly<Record<PhaseTone, number>>;
  readonly blocks: readonly TileBlock[];
}

export type TileBlock = readonly PlacedTile[];

export interface PlacedTile {
  readonly key: string;
  readonly name: string;
  readonly tile: MachineTile;
}

/** The number of tiles in a block: small enough to be drawn in a frame, and large enough that 10,000 machines are few blocks. */
const BLOCK_TILES = 200;

export function zoneGroup(zone: string, blocks: readonly TileBlock[]): ZoneGroup {
  const tiles = blocks.flat();
  return { zone, machines: tiles.length, counts: countPhases(tiles), tones: countTones(tiles), blocks };
}

export function blocksOf(tiles: TileBlock): readonly TileBlock[] {
  return Array.from({ length: Math.ceil(tiles.length / BLOCK_TILES) }, (_, index) =>
    tiles.slice(index * BLOCK_TILES, (index + 1) * BLOCK_TILES),
  );
}

function countPhases(tiles: TileBlock): ZoneGroup['counts'] {
  const counts = new Map<string, number>();
  for (const { tile } of tiles) counts.set(tile.p, (counts.get(tile.p) ?? 0) + 1);
  return [...counts].toSorted(([a, many], [b, more]) => more - many || compareText(a, b));
}

function countTones(tiles: TileBlock): ZoneGroup['tones'] {
  const tones = { good: 0, busy: 0, bad: 0, quiet: 0 };
  for (const { tile } of tiles) tones[machineSign(tile).tone] += 1;
  return tones;
}

export interface FoundTile {
  /** The index of the block in its group; `index` is that of the tile in the block. */
  readonly place: number;
  readonly index: number;
  readonly block: TileBlock;
  readonly placed: PlacedTile;
}

export function findInBlocks(blocks: readonly TileBlock[], key: string): FoundTile | undefined {
  // Sorted by key: it can only be in the first block that does not end before it.
  const place = blocks.findIndex((block) => compareText(block.at(-1)?.key ?? '', key) >= 0);
  const block = blocks[place] ?? [];
  const index = block.findIndex((placed) => placed.key === key);
  const placed = block[index];
  return placed && { place, index, block, placed };
}

/** Returns the groups with the tile replaced. Undefined: the machine is new, or was in another group. */
export function replaceInZones(
  zones: readonly ZoneGroup[],
  name: string,
  { key, tile }: Pick<PlacedTile, 'key' | 'tile'>,
): readonly ZoneGroup[] | undefined {
  const index = zones.findIndex(({ zone }) => zone === name);
  const { zone = '', blocks = [] } = zones[index] ?? {};
  const found = findInBlocks(blocks, key);
  if (!found) return undefined;
  const block = found.block.with(found.index, { ...found.placed, tile });
  return zones.with(index, zoneGroup(zone, blocks.with(found.place, block)));
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
