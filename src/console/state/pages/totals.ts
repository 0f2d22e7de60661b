/** The numbers in the header: the fleet in one line. Pure; runs in the page. */
import type { FleetGroups } from '../fleet.ts';
import { clusterHealthView } from '../health.ts';
import type { PhaseTone } from '../signs.ts';
import type { ConsoleState } from '../state.ts';

export interface FleetTotals {
  readonly ready: number;
  readonly total: number;
  /** Machines that change: updating, joining, or cordoned by kubenode. */
  readonly changing: number;
  readonly trouble: number;
  /** Repairs that have not ended. */
  readonly repairs: number;
}

/** Machines of clusters that are not shown count as their hub counted them last. */
export function fleetTotals({ stages }: FleetGroups, repairs: ConsoleState['repairs']): FleetTotals {
  const clusters = stages.flatMap((stage) => stage.clusters);
  const counts = clusters.map((group) => clusterHealthView(group).machines ?? { total: 0, ready: 0 });
  const tones = clusters.flatMap(({ zones }) => zones.map((zone) => zone.tones));
  const sumTone = (tone: PhaseTone): number => sum(tones.map((each) => each[tone]));
  return {
    ready: sum(counts.map(({ ready }) => ready)),
    total: sum(counts.map(({ total }) => total)),
    changing: sumTone('busy'),
    trouble: sumTone('bad'),
    repairs: Object.values(repairs).filter(({ state }) => state === 'Running' || state === 'NeedsPerson')
      .length,
  };
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
