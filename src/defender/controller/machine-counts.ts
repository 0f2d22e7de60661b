/** How the machines of the cluster are, for the people who watch many clusters. Pure. */
import type { Machine, MachineCounts } from '../../api/generated/types.ts';
import { machinePhases } from '../../api/status/phase-tables.ts';
import { isUnhealthyPhase } from '../../api/status/unhealthy-phases.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';

const SHOWN = 20;
const FAILED: ReadonlySet<string> = new Set(['Failed', 'RolledBack']);

export function countMachines(machines: readonly Machine[]): MachineCounts {
  const unhealthy = machines.flatMap(unhealthyMachine).toSorted((a, b) => byCode(a.name, b.name));
  return {
    total: machines.length,
    ready: countTrue(machines, 'Ready'),
    upToDate: countTrue(machines, 'UpToDate'),
    failed: machines.filter(hasFailedComponent).length,
    unhealthy: unhealthy.length,
    unhealthyMachines: unhealthy.slice(0, SHOWN),
  };
}

/** From its conditions, as they are now: the phase in the status may be that of another generation. */
function unhealthyMachine({
  metadata: { name, deletionTimestamp },
  status,
}: Machine): NonNullable<MachineCounts['unhealthyMachines']> {
  if (!status) return [];
  const phase = machinePhases.phaseOf({ conditions: status.conditions, deletionTimestamp });
  return isUnhealthyPhase(phase) ? [{ name, phase }] : [];
}

function countTrue(machines: readonly Machine[], type: 'Ready' | 'UpToDate'): number {
  return machines.filter(({ status }) => conditionStatus(status?.conditions, type) === 'True').length;
}

function hasFailedComponent({ status }: Machine): boolean {
  return (status?.components ?? []).some(({ state = '' }) => FAILED.has(state));
}
