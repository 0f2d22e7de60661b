/** Reads which sets and machines name a MachineComponent. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSet } from '../../api/generated/types.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { byCode } from '../../kube/objects/digest.ts';

export interface ComponentUsers {
  /** Sets that assign this version. */
  readonly sets: readonly string[];
  /** A machine that has it, where no set does. */
  readonly machine?: string | undefined;
}

export interface ComponentUseInput {
  readonly component: MachineComponent;
  readonly use: ComponentUsers;
  readonly now: Date;
}

export function refsOf({ spec }: Machine | MachineComponentSet): readonly string[] {
  return spec.components.map(({ componentRef }) => componentRef);
}

export function observeUsers(component: MachineComponent, context: ReconcileContext): ComponentUseInput {
  return { component, use: usersOf(component.metadata.name, context), now: context.clock.now() };
}

/** One machine is enough, so that a version that all have is found at the first. */
function usersOf(ref: string, context: ReconcileContext): ComponentUsers {
  const sets = context
    .view<MachineComponentSet>(MACHINE_COMPONENT_SETS)
    .list()
    .filter((set) => refsOf(set).includes(ref))
    .map(({ metadata }) => metadata.name)
    .toSorted(byCode);
  if (sets.length > 0) return { sets };
  const machine = context
    .view<Machine>(MACHINES)
    .list()
    .find((each) => refsOf(each).includes(ref));
  return { sets, machine: machine?.metadata.name };
}
