/**
 * Tells which component of a machine is desired and which runs. `kubenode component list` and the metrics of coverage count these, so
 * that they have the same numbers. Pure.
 */

import type { Machine, MachineComponentEntry, MachineComponentReport } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';

/** One component of one machine. */
export interface ComponentUse {
  readonly machine: string;
  readonly component: string;
  readonly desiredRef?: string;
  readonly currentRef?: string;
  /** Whether the machine runs exactly the content that is desired. */
  readonly isConsistent: boolean;
  readonly isFailed: boolean;
}

/** Lists the components of a machine. One that no entry names any more may still be installed: it counts as current. */
export function usesOf({ metadata: { name: machine }, spec, status }: Machine): readonly ComponentUse[] {
  const entries = new Map(spec.components.map((entry) => [entry.name, entry]));
  const reports = new Map(status?.components?.map((report) => [report.name, report]));
  return [...new Set([...entries.keys(), ...reports.keys()])].map((component) =>
    useOf(machine, component, entries.get(component), reports.get(component)),
  );
}

function useOf(
  machine: string,
  component: string,
  entry: MachineComponentEntry | undefined,
  report: MachineComponentReport | undefined,
): ComponentUse {
  const desired = entry?.state === 'Absent' ? undefined : entry;
  const currentRef = report?.currentRef;
  return {
    machine,
    component,
    ...optional('desiredRef', desired?.componentRef),
    ...optional('currentRef', currentRef),
    isConsistent: desired ? isInForce(desired, report) : currentRef === undefined,
    isFailed: FAILED.has(report?.state),
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
