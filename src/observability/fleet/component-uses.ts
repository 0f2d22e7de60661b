/**
 * Tells which component of a machine is desired and which runs. `kubenode component list` and the metrics of coverage count these, so
 * that they have the same numbers. Pure.
 */

import type { Machine, MachineComponentEntry, MachineComponentReport } from '../../api/generated/types.ts';

/** One component of one machine. */
export interface ComponentUse {
  readonly machine: string;
  readonly component: string;
  readonly desiredRef: string | undefined;
  readonly currentRef: string | undefined;
  /** Whether the machine runs exactly the content that is desired. */
  readonly isConsistent: boolean;
  readonly isFailed: boolean;
}

/** Lists the components of a machine. One that no entry names any more may still be installed: it counts as current. */
export function usesOf({ metadata: { name: machine }, spec, status }: Machine): readonly ComponentUse[] {
  const { components: reports = [] } = status ?? {};
  const desired = spec.components.map((entry) =>
    desiredUse(
      machine,
      entry,
      reports.find(({ name }) => name === entry.name),
    ),
  );
  const others = reports.filter(({ name }) => !spec.components.some((entry) => entry.name === name));
  return [...desired, ...others.map((report) => otherUse(machine, report))];
}

function desiredUse(
  machine: string,
  entry: MachineComponentEntry,
  report: MachineComponentReport | undefined,
): ComponentUse {
  const isDesired = entry.state !== 'Absent';
  const currentRef = report?.currentRef;
  return {
    machine,
    component: entry.name,
    desiredRef: isDesired ? entry.componentRef : undefined,
    currentRef,
    isConsistent: isDesired ? isInForce(entry, report) : currentRef === undefined,
    isFailed: FAILED.has(report?.state),
  };
}

function otherUse(machine: string, { name, currentRef, state }: MachineComponentReport): ComponentUse {
  return {
    machine,
    component: name,
    desiredRef: undefined,
    currentRef,
    isConsistent: currentRef === undefined,
    isFailed: FAILED.has(state),
  };
}

const FAILED: ReadonlySet<MachineComponentReport['state']> = new Set(['Failed', 'RolledBack']);

/**
 * Tells whether the machine runs the content of the entry. The digest decides: a version that was deleted and created again has the same
 * name and other content.
 */
function isInForce({ digest }: MachineComponentEntry, report: MachineComponentReport | undefined): boolean {
  return report?.state === 'Committed' && report.digest === digest && report.running !== false;
}
