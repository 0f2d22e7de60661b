/** The fleet in the order in which it is shown: stages, their clusters, their zones, their machines. Pure; runs in the page. */
import type { ClusterLine, ConsoleState, MachineTile } from './state.ts';

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
  readonly tiles: readonly PlacedTile[];
}

export interface PlacedTile {
  readonly key: string;
  readonly name: string;
  readonly tile: MachineTile;
}

const NO_ZONE = 'no zone';
export const NO_STAGE = 'no stage';

export function groupFleet({
  clusters,
  machines,
}: Pick<ConsoleState, 'clusters' | 'machines'>): readonly StageGroup[] {
  const byCluster = Map.groupBy(placeTiles(machines), ({ key }) => clusterOf(key));
  const lines = Object.values(clusters).toSorted((a, b) => a.order - b.order || compare(a.name, b.name));
  const groups = lines.map((line) => groupCluster(line, byCluster.get(line.name) ?? []));
  return [...Map.groupBy(groups, ({ line }) => line.stage || NO_STAGE)].map(([stage, own]) => ({
    stage,
    clusters: own,
  }));
}

function placeTiles(machines: ConsoleState['machines']): readonly PlacedTile[] {
  return Object.entries(machines)
    .map(([key, tile]) => ({ key, name: key.slice(key.indexOf('/') + 1), tile }))
    .toSorted((a, b) => compare(a.key, b.key));
}

function groupCluster(line: ClusterLine, tiles: readonly PlacedTile[]): ClusterGroupView {
  const zones = [...Map.groupBy(tiles, ({ tile }) => tile.z ?? NO_ZONE)]
    .map(([zone, own]) => ({ zone, tiles: own }))
    .toSorted((a, b) => compare(a.zone, b.zone));
  return { line, machines: tiles.length, zones };
}

export function clusterOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/** How many tiles have each phase, the most frequent first. */
export function countPhases(
  tiles: readonly PlacedTile[],
): readonly (readonly [phase: string, count: number])[] {
  return [...Map.groupBy(tiles, ({ tile }) => tile.p)]
    .map(([phase, own]) => [phase, own.length] as const)
    .toSorted(([a, many], [b, more]) => more - many || compare(a, b));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
