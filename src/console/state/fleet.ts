/**
 * Groups the fleet in the order in which it is shown: stages, their clusters, their zones, blocks of their machines. A change replaces only
 * the groups that contain it, so that of 10,000 machines the page draws few. Pure; runs in the page.
 */
import type { ConsolePatch } from './patch.ts';
import type { ClusterLine, ConsoleState, MachineTile } from './state.ts';

export interface FleetGroups {
  readonly stages: readonly StageGroup[];
  /** The zones by cluster, also of clusters that are not listed. */
  readonly zones: ReadonlyMap<string, readonly ZoneGroup[]>;
}

export interface StageGroup {
  readonly stage: string;
  readonly clusters: readonly ClusterGroupView[];
}

export interface ClusterGroupView {
  readonly line: ClusterLine;
  readonly machines: number;
  readonly zones: readonly ZoneGroup[];
}

export interface ZoneGroup {
  readonly zone: string;
  readonly machines: number;
  /** The number of machines of each phase, the most frequent first. */
  readonly counts: readonly (readonly [phase: string, count: number])[];
  readonly blocks: readonly TileBlock[];
}

export type TileBlock = readonly PlacedTile[];

export interface PlacedTile {
  readonly key: string;
  readonly name: string;
  readonly tile: MachineTile;
}

type Shown = Pick<ConsoleState, 'clusters' | 'machines'>;
type MachinesPatch = NonNullable<ConsolePatch['machines']>;

const NO_ZONE = 'no zone';
export const NO_STAGE = 'no stage';
/** The number of tiles in a block: small enough to be drawn in a frame, and large enough that 10,000 machines are few blocks. */
const BLOCK_TILES = 200;
/** The most machines to replace one by one: to group a fleet again takes less time than to replace more. */
const MAX_REPLACED = 100;

export function groupFleet({ clusters, machines }: Shown): FleetGroups {
  const byCluster = Map.groupBy(placeTiles(machines), ({ key }) => clusterOf(key));
  const zones = new Map([...byCluster].map(([cluster, tiles]) => [cluster, groupZones(tiles)]));
  return { zones, stages: groupStages(clusters, zones) };
}

/** Returns the groups after a change. `clusters` are those after the change. */
export function regroupFleet(
  before: FleetGroups,
  clusters: ConsoleState['clusters'],
  change: ConsolePatch,
): FleetGroups {
  const { zones } = before;
  if (!change.machines) return change.clusters ? { zones, stages: groupStages(clusters, zones) } : before;
  const replaced = replaceTiles(zones, change.machines);
  return replaced
    ? { zones: replaced, stages: groupStages(clusters, replaced) }
    : groupFleet({ clusters, machines: changeRows(zones, change.machines) });
}

/** Returns the rows of all machines after a change. */
function changeRows(zones: FleetGroups['zones'], { set, removed }: MachinesPatch): ConsoleState['machines'] {
  const tiles = [...zones.values()].flat().flatMap(({ blocks }) => blocks.flat());
  const rows = new Map(tiles.map(({ key, tile }) => [key, tile]));
  for (const key of removed) rows.delete(key);
  for (const [key, tile] of Object.entries(set)) rows.set(key, tile);
  return Object.fromEntries(rows);
}

/** Finds the tile of a machine; undefined for a machine that does not exist. */
export function findTile({ zones }: FleetGroups, key: string): MachineTile | undefined {
  for (const { blocks } of zones.get(clusterOf(key)) ?? []) {
    const found = findInBlocks(blocks, key);
    if (found) return found.placed.tile;
  }
  return undefined;
}

function placeTiles(machines: ConsoleState['machines']): readonly PlacedTile[] {
  return Object.entries(machines)
    .map(([key, tile]) => ({ key, name: key.slice(key.indexOf('/') + 1), tile }))
    .toSorted((a, b) => compare(a.key, b.key));
}

function groupZones(tiles: readonly PlacedTile[]): readonly ZoneGroup[] {
  return [...Map.groupBy(tiles, ({ tile }) => zoneOf(tile))]
    .map(([zone, own]) => zoneGroup(zone, blocksOf(own)))
    .toSorted((a, b) => compare(a.zone, b.zone));
}

function zoneGroup(zone: string, blocks: readonly TileBlock[]): ZoneGroup {
  const tiles = blocks.flat();
  return { zone, machines: tiles.length, counts: countPhases(tiles), blocks };
}

function blocksOf(tiles: TileBlock): readonly TileBlock[] {
  return Array.from({ length: Math.ceil(tiles.length / BLOCK_TILES) }, (_, index) =>
    tiles.slice(index * BLOCK_TILES, (index + 1) * BLOCK_TILES),
  );
}

function countPhases(tiles: TileBlock): ZoneGroup['counts'] {
  const counts = new Map<string, number>();
  for (const { tile } of tiles) counts.set(tile.p, (counts.get(tile.p) ?? 0) + 1);
  return [...counts].toSorted(([a, many], [b, more]) => more - many || compare(a, b));
}

function groupStages(clusters: ConsoleState['clusters'], zones: FleetGroups['zones']): readonly StageGroup[] {
  const lines = Object.values(clusters).toSorted((a, b) => a.order - b.order || compare(a.name, b.name));
  const groups = lines.map((line) => {
    const own = zones.get(line.name) ?? [];
    return { line, machines: own.reduce((sum, { machines }) => sum + machines, 0), zones: own };
  });
  return [...Map.groupBy(groups, ({ line }) => line.stage || NO_STAGE)].map(([stage, own]) => ({
    stage,
    clusters: own,
  }));
}

/** Returns the zones with the changed tiles replaced. Undefined: a machine is new, deleted, or in another zone, or many changed. */
function replaceTiles(
  zones: FleetGroups['zones'],
  { set, removed }: MachinesPatch,
): FleetGroups['zones'] | undefined {
  const changed = Object.entries(set);
  if (removed.length > 0 || changed.length > MAX_REPLACED) return undefined;
  const after = new Map(zones);
  for (const [key, tile] of changed) {
    const cluster = clusterOf(key);
    const replaced = replaceInZones(after.get(cluster) ?? [], key, tile);
    if (!replaced) return undefined;
    after.set(cluster, replaced);
  }
  return after;
}

function replaceInZones(
  zones: readonly ZoneGroup[],
  key: string,
  tile: MachineTile,
): readonly ZoneGroup[] | undefined {
  const index = zones.findIndex(({ zone }) => zone === zoneOf(tile));
  const { zone = '', blocks = [] } = zones[index] ?? {};
  const found = findInBlocks(blocks, key);
  if (!found) return undefined;
  const block = found.block.with(found.index, { ...found.placed, tile });
  return zones.with(index, zoneGroup(zone, blocks.with(found.place, block)));
}

interface FoundTile {
  /** The index of the block in its zone; `index` is that of the tile in the block. */
  readonly place: number;
  readonly index: number;
  readonly block: TileBlock;
  readonly placed: PlacedTile;
}

function findInBlocks(blocks: readonly TileBlock[], key: string): FoundTile | undefined {
  // Sorted by key: it can only be in the first block that does not end before it.
  const place = blocks.findIndex((block) => compare(block.at(-1)?.key ?? '', key) >= 0);
  const block = blocks[place] ?? [];
  const index = block.findIndex((placed) => placed.key === key);
  const placed = block[index];
  return placed && { place, index, block, placed };
}

function zoneOf({ z }: MachineTile): string {
  return z ?? NO_ZONE;
}

function clusterOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
