/** How the machines of a cluster are, whatever commit they run. Pure; runs in the page. */
import type { ClusterGroupView } from './fleet.ts';
import { machineSign } from './signs.ts';
import type { ReadyCount } from './state.ts';

export interface HealthView {
  readonly health: string;
  /** Absent: none is known. */
  readonly machines?: ReadyCount;
}

/** The machines that are shown report it earlier than the hub does. */
export function clusterHealthView({ line, machines: total, zones }: ClusterGroupView): HealthView {
  if (total === 0) {
    const { health, machines } = line;
    return machines && machines.total > 0 ? { health, machines } : { health };
  }
  const counts = zones.flatMap((zone) => zone.counts);
  const sum = (test: (phase: string) => boolean): number =>
    counts.reduce((all, [phase, count]) => all + (test(phase) ? count : 0), 0);
  const machines = { total, ready: sum((phase) => phase === 'Ready') };
  if (sum((phase) => machineSign({ p: phase }).tone === 'bad') > 0) return { health: 'Unhealthy', machines };
  // No hub lists it: then its machines are all that is known.
  return { health: line.state === 'Local' ? 'Healthy' : line.health, machines };
}
