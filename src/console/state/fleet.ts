/**
 * Groups the fleet in the order in which it is shown: stages, their clusters, their zones (or pools, or versions), blocks of their machines.
 * A change replaces only the groups that contain it, so that of 10,000 machines the page draws few. Pure; runs in the page.
 */
import type { ConsolePatch } from './patch.ts';
import type { ClusterLine, ConsoleState, MachineTile } from './state.ts';
import {
  blocksOf,
  compareText,
  findInBlocks,
  type PlacedTile,
  replaceInZones,
  type ZoneGroup,
  zoneGroup,
} from './tile-blocks.ts';

/** The properties by which the machines of a cluster are grouped. */
export const GROUPINGS = ['zone', 'pool', 'version'] as const;
export type TileGrouping = (typeof GROUPINGS)[number];

export interface FleetGroups {
  readonly by: TileGrouping;
  readonly stages: readonly StageGroup[];
  /** The groups of machines by cluster, also of clusters that are not listed. */
  readonly zones: ReadonlyMap<string, readonly ZoneGroup[]>;
}

/** A stage of a Pipeline: two Pipelines may have a stage of the same name. */
export interface StagePlace {
  /** Empty: no Pipeline has it. */
  readonly pipeline: string;
  readonly stage: string;
}

export interface StageGroup extends StagePlace {
  readonly clusters: readonly ClusterGroupView[];
}

export interface ClusterGroupView {
  readonly line: ClusterLine;
  readonly machines: number;
  readonly zones: readonly ZoneGroup[];
}

type Shown = Pick<ConsoleState, 'clusters' | 'machines'>;
type MachinesPatch = NonNullable<ConsolePatch['machines']>;

export const NO_STAGE = 'no stage';
/** The most machines to replace one by one: to group a fleet again takes less time than to replace more. */
const MAX_REPLACED = 100;

export function groupFleet({ clusters, machines }: Shown, by: TileGrouping = 'zone'): FleetGroups {
  const byCluster = Map.groupBy(placeTiles(machines), ({ key }) => clusterOf(key));
  const zones = new Map([...byCluster].map(([cluster, tiles]) => [cluster, groupTiles(tiles, by)]));
  return { by, zones, stages: groupStages(clusters, zones) };
}

/** Returns the same machines in other groups. */
export function groupFleetBy(
  before: FleetGroups,
  clusters: ConsoleState['clusters'],
  by: TileGrouping,
): FleetGroups {
  if (by === before.by) return before;
  return groupFleet({ clusters, machines: Object.fromEntries(rowsOf(before.zones)) }, by);
}

/** Returns the groups after a change. `clusters` are those after the change. */
export function regroupFleet(
  before: FleetGroups,
  clusters: ConsoleState['clusters'],
  change: ConsolePatch,
): FleetGroups {
  const { by, zones } = before;
  if (!change.machines) return change.clusters ? { by, zones, stages: groupStages(clusters, zones) } : before;
  const replaced = replaceTiles(before, change.machines);
  return replaced
    ? { by, zones: replaced, stages: groupStages(clusters, replaced) }
    : groupFleet({ clusters, machines: changeRows(zones, change.machines) }, by);
}

/** Returns the rows of all machines after a change. */
function changeRows(zones: FleetGroups['zones'], { set, removed }: MachinesPatch): ConsoleState['machines'] {
  const rows = rowsOf(zones);
  for (const key of removed) rows.delete(key);
  for (const [key, tile] of Object.entries(set)) rows.set(key, tile);
  return Object.fromEntries(rows);
}

function rowsOf(zones: FleetGroups['zones']): Map<string, MachineTile> {
  const tiles = [...zones.values()].flat().flatMap(({ blocks }) => blocks.flat());
  return new Map(tiles.map(({ key, tile }) => [key, tile]));
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
    .toSorted((a, b) => compareText(a.key, b.key));
}

function groupTiles(tiles: readonly PlacedTile[], by: TileGrouping): readonly ZoneGroup[] {
  return [...Map.groupBy(tiles, ({ tile }) => groupName(tile, by))]
    .map(([zone, own]) => zoneGroup(zone, blocksOf(own)))
    .toSorted((a, b) => compareText(a.zone, b.zone));
}

function groupStages(clusters: ConsoleState['clusters'], zones: FleetGroups['zones']): readonly StageGroup[] {
  const lines = Object.values(clusters).toSorted((a, b) => a.order - b.order || compareText(a.name, b.name));
  const groups = lines.map((line) => {
    const own = zones.get(line.name) ?? [];
    return { line, machines: own.reduce((sum, { machines }) => sum + machines, 0), zones: own };
  });
  const byPipeline = [...Map.groupBy(groups, ({ line }) => clusterStage(line).pipeline)];
  return byPipeline.flatMap(([pipeline, all]) =>
    [...Map.groupBy(all, ({ line }) => clusterStage(line).stage)].map(([stage, own]) => ({
      pipeline,
      stage,
      clusters: own,
    })),
  );
}

/** Returns the stage of a cluster. Clusters without one are together, whatever Pipeline assigned them something. */
export function clusterStage({ pipeline = '', stage }: Pick<ClusterLine, 'pipeline' | 'stage'>): StagePlace {
  return stage === '' ? { pipeline: '', stage: NO_STAGE } : { pipeline, stage };
}

/** Tells whether the stages are of several Pipelines: then each has to be named. */
export function hasSeveralPipelines(stages: readonly StagePlace[]): boolean {
  return new Set(stages.map(({ pipeline }) => pipeline).filter(Boolean)).size > 1;
}

/** Returns the groups with the changed tiles replaced. Undefined: a machine is new, deleted, or in another group, or many changed. */
function replaceTiles(
  { by, zones }: FleetGroups,
  { set, removed }: MachinesPatch,
): FleetGroups['zones'] | undefined {
  const changed = Object.entries(set);
  if (removed.length > 0 || changed.length > MAX_REPLACED) return undefined;
  const after = new Map(zones);
  for (const [key, tile] of changed) {
    const cluster = clusterOf(key);
    const replaced = replaceInZones(after.get(cluster) ?? [], groupName(tile, by), { key, tile });
    if (!replaced) return undefined;
    after.set(cluster, replaced);
  }
  return after;
}

function groupName({ z, l, v }: MachineTile, by: TileGrouping): string {
  if (by === 'pool') return l ?? 'no pool';
  return by === 'version' ? (v ?? 'no version reported') : (z ?? 'no zone');
}

function clusterOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
