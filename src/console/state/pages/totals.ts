/** The numbers in the header: the fleet in one line. Pure; runs in the page. */
import { type ClusterGroupView, type FleetGroups, findTile } from '../fleet.ts';
import { clusterHealthView } from '../health.ts';
import { machinesInRepair, openRepairs } from '../open-repairs.ts';
import { machineSign } from '../signs.ts';
import type { ConsoleState } from '../state.ts';

export interface FleetTotals {
  readonly ready: number;
  readonly total: number;
  /** Machines that change, as their tiles show it: updating, joining, cordoned by kubenode, or Ready and in repair. */
  readonly changing: number;
  /** Repairs that have not ended. */
  readonly repairs: number;
}

/** Machines of clusters that are not shown count as their hub counted them last. */
export function fleetTotals(groups: FleetGroups, repairs: ConsoleState['repairs']): FleetTotals {
  const { stages } = groups;
  const clusters = stages.flatMap((stage) => stage.clusters);
  const counts = clusters.map((group) => clusterHealthView(group).machines ?? { total: 0, ready: 0 });
  return {
    ready: sum(counts.map(({ ready }) => ready)),
    total: sum(counts.map(({ total }) => total)),
    changing: countChanging(groups, clusters, repairs),
    repairs: openRepairs(repairs).length,
  };
}

/** A machine in repair has another sign than its phase: of 10,000 machines, only those are read one by one. */
function countChanging(
  groups: FleetGroups,
  clusters: readonly ClusterGroupView[],
  repairs: ConsoleState['repairs'],
): number {
  const shown = new Set(clusters.map(({ line }) => line.name));
  const corrections = [...machinesInRepair(repairs)].map((key) => {
    const tile = shown.has(key.slice(0, key.indexOf('/'))) ? findTile(groups, key) : undefined;
    return tile
      ? Number(machineSign(tile, true).tone === 'busy') - Number(machineSign(tile).tone === 'busy')
      : 0;
  });
  return sum(clusters.flatMap(({ zones }) => zones.map(({ tones }) => tones.busy))) + sum(corrections);
}

/** Returns how many machines have each phase, the most frequent first. */
export function phaseTotals(
  groups: readonly { readonly counts: readonly (readonly [string, number])[] }[],
): readonly (readonly [phase: string, count: number])[] {
  const totals = new Map<string, number>();
  for (const [phase, count] of groups.flatMap(({ counts }) => counts)) {
    totals.set(phase, (totals.get(phase) ?? 0) + count);
  }
  return [...totals].toSorted(([, many], [, more]) => more - many);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, each) => all + each, 0);
}
