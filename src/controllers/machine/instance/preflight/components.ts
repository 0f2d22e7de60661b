/** Tells which components a machine will run that does not exist yet. Pure. */
import type { Machine, MachineComponentSet } from '../../../../api/generated/types.ts';
import { isSelected } from '../../../../kube/objects/selector.ts';

export interface ExpectedComponent {
  readonly name: string;
  readonly componentRef: string;
}

/**
 * Returns the entries of the Machine, and those that a set will assign to it. A set in the middle of a rollout is left out: which of its
 * revisions a new machine gets is decided by the rollout.
 */
export function expectedComponents(
  machine: Machine,
  sets: readonly MachineComponentSet[],
): readonly ExpectedComponent[] {
  const own = machine.spec.components;
  const names = new Set(own.map(({ name }) => name));
  const assigned = sets
    .filter((set) => isSettled(set) && selects(set, machine))
    .flatMap(({ spec }) => spec.components)
    .filter(({ name }) => !names.has(name));
  return [...own, ...assigned]
    .filter(({ state }) => state === 'Present')
    .map(({ name, componentRef }) => ({ name, componentRef }));
}

function isSettled({ metadata, status }: MachineComponentSet): boolean {
  const { observedGeneration, currentRevision, updateRevision } = status ?? {};
  // Before its first rollout ends a set has one revision only.
  if (currentRevision === undefined) return true;
  return observedGeneration === metadata.generation && currentRevision === updateRevision;
}

function selects({ spec, metadata }: MachineComponentSet, machine: Machine): boolean {
  if (metadata.deletionTimestamp !== undefined || spec.paused || spec.dryRun) return false;
  return isSelected(spec.machineSelector, machine.metadata.labels ?? {});
}
