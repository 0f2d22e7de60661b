/** Since when what forbids a step has been so in the API server: a process may know of it later. */
import { MACHINES, MAINTENANCE_EVENTS, REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { Machine, MaintenanceEvent, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { isDecided } from '../../../../api/machine/maintenance-events.ts';
import { ANNOTATION_CORDONED_BY, MAINTENANCE_REMEDIER } from '../../../../api/names.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { ApiChange } from '../../../api-server/objects.ts';
import { DEAD, FAULTS, type SimulatedFault } from '../remediers.ts';
import { isUnschedulable } from '../unschedulable.ts';

export interface Moments {
  /** By key; undefined: it is not so. */
  readonly since: ReadonlyMap<string, number>;
  written(change: ApiChange): void;
}

export const KEYS = {
  cleared: (machine: string, fault: string) => `cleared/${machine}/${fault}`,
  held: (machine: string) => `held/${machine}`,
  uncordoned: (machine: string, mark: string) => `uncordoned/${machine}/${mark}`,
  replaced: (nodeUID: string) => `replaced/${nodeUID}`,
  deleted: (machineUID: string) => `deleted/${machineUID}`,
  cancelled: (jobUID: string) => `cancelled/${jobUID}`,
} as const;

function isAgentReady(condition: unknown): boolean {
  return textAt(condition, 'type') === 'AgentReady' && textAt(condition, 'status') === 'True';
}

export function createMoments(nowMs: () => number): Moments {
  const since = new Map<string, number>();
  /** By machine, names of the events for which it has to be empty. */
  const due = new Map<string, Set<string>>();
  return { since, written };

  function note(key: string, isSo: boolean): void {
    if (!isSo) since.delete(key);
    else if (!since.has(key)) since.set(key, nowMs());
  }

  function written({ before, after }: ApiChange): void {
    const [object, isDeleted] = [after ?? before, after === undefined];
    const { kind } = object ?? {};
    // Of the type of its kind.
    if (kind === MACHINES.kind) machineWritten(object as Machine, isDeleted);
    if (kind === NODES.kind) nodeWritten(before, after);
    if (kind === MAINTENANCE_EVENTS.kind) eventWritten(object as MaintenanceEvent, isDeleted);
    if (kind === REMEDY_OPERATION_JOBS.kind && after) jobWritten(after as RemedyOperationJob);
  }

  function machineWritten(machine: Machine, isDeleted: boolean): void {
    const { name, uid = '' } = machine.metadata;
    note(KEYS.deleted(uid), isDeleted);
    note(KEYS.held(name), machine.spec.hold !== undefined);
    const conditions = isDeleted ? [] : listAt(machine, 'status', 'conditions');
    noteFault(name, 'hung', conditions);
    note(KEYS.cleared(name, DEAD), conditions.some(isAgentReady));
  }

  function nodeWritten(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { name = '', uid = '', annotations = {} } = (after ?? before)?.metadata ?? {};
    note(KEYS.replaced(uid), after === undefined);
    noteFault(name, 'network', listAt(after, 'status', 'conditions'));
    const mark = annotations[ANNOTATION_CORDONED_BY];
    if (mark !== undefined) note(KEYS.uncordoned(name, mark), !isUnschedulable(after));
  }

  /** Its events have no time: those that are decided are due. */
  function eventWritten(event: MaintenanceEvent, isDeleted: boolean): void {
    const { machine } = event.spec;
    const names = due.get(machine) ?? new Set();
    due.set(machine, names);
    if (isDecided(event) && !isDeleted) names.add(event.metadata.name);
    else names.delete(event.metadata.name);
    note(KEYS.cleared(machine, MAINTENANCE_REMEDIER), names.size === 0);
  }

  function noteFault(machine: string, fault: SimulatedFault, conditions: readonly unknown[]): void {
    const found = conditions.find((each) => textAt(each, 'type') === FAULTS[fault]);
    note(KEYS.cleared(machine, fault), textAt(found, 'status') === 'False');
  }

  function jobWritten({ metadata, spec }: RemedyOperationJob): void {
    const isCancelled = spec.cancel !== undefined || metadata.deletionTimestamp !== undefined;
    note(KEYS.cancelled(metadata.uid ?? ''), isCancelled);
  }
}
