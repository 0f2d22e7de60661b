/** Decides which sets a change concerns, and which changes are worth a reconcile. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../../api/generated/types.ts';
import type { Changed } from '../../../kube/controller/predicates.ts';
import { partChanged } from '../../../kube/controller/predicates.ts';
import type { ReadableStore, ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { isSelected } from '../../../kube/objects/selector.ts';

export interface SetIndex {
  /** Remembers the views: before the first reconcile, the initial list reconciles every set. */
  readonly know: (context: ReconcileContext) => void;
  /** Returns for a changed set that set and all others: they may conflict. */
  readonly ofSet: (set: KubeObject) => readonly string[];
  readonly ofMachine: (machine: Machine) => readonly string[];
  /** Returns the sets that an object concerns that has the name of its machine. */
  readonly ofNamesake: (object: KubeObject) => readonly string[];
  readonly all: () => readonly string[];
}

export function createSetIndex(): SetIndex {
  let sets: ReadableStore<MachineComponentSet> | undefined;
  let machines: ReadableStore<Machine> | undefined;
  const index: SetIndex = {
    know: (context) => {
      sets = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS);
      machines = context.view<Machine>(MACHINES);
    },
    ofSet: ({ metadata }) => [metadata.name, ...index.all()],
    ofMachine: (machine) => {
      const concerned = (sets?.list() ?? []).filter((set) => isConcerned(set, machine));
      return [...new Set([...concerned.map(({ metadata }) => metadata.name), ...permittingSets(machine)])];
    },
    ofNamesake: ({ metadata }) => {
      const machine = machines?.get(metadata.name);
      return machine ? index.ofMachine(machine) : [];
    },
    all: () => (sets?.list() ?? []).map(({ metadata }) => metadata.name),
  };
  return index;
}

/** Returns the sets whose grants are in entries of the Machine, also one that was deleted since. */
function permittingSets({ spec }: Machine): readonly string[] {
  return spec.components.flatMap(({ assignment, grant }) => (grant && assignment?.set) ?? []);
}

function isConcerned({ spec, metadata: { name } }: MachineComponentSet, machine: Machine): boolean {
  return (
    isSelected(spec.machineSelector, machine.metadata.labels ?? {}) ||
    machine.spec.components.some(({ assignment }) => assignment?.set === name)
  );
}

/**
 * Tells whether a Machine changed. Of its status only the report of the agent and the UID of the Node count, whatever people and
 * other controllers write there. The managers of the status are left out, because a write of the status makes no one the owner
 * of an entry.
 */
export const machineChanged: Changed<Machine> = partChanged(({ metadata, spec, status }) => [
  metadata.labels,
  metadata.annotations,
  metadata.deletionTimestamp,
  metadata.managedFields
    ?.filter(({ subresource }) => subresource !== 'status')
    .map(({ manager, operation, fieldsV1 }) => [manager, operation, fieldsV1]),
  spec.components,
  spec.hold,
  status?.components,
  status?.agent?.observedGeneration,
  status?.node?.uid,
]);

/** Heartbeats of a kubelet trigger no reconcile. */
export const nodeChanged: Changed = partChanged((node) => [
  node.metadata.uid,
  node.metadata.annotations,
  node['spec'],
  listAt(node, 'status', 'conditions').map((condition) => [
    textAt(condition, 'type'),
    textAt(condition, 'status'),
    textAt(condition, 'lastTransitionTime'),
  ]),
]);

/** Tells whether a MachineComponent changed. Its spec is immutable, so it is not compared. */
export const componentChanged: Changed = partChanged(({ metadata, ...object }) => [
  metadata.annotations,
  metadata.deletionTimestamp,
  listAt(object, 'status', 'conditions'),
]);
