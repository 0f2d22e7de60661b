/** Checks MachineComponents and shows who uses them, as kubenode-componentset. Every choice is made in plan.ts. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSet } from '../../api/generated/types.ts';
import { MANAGER_MACHINECOMPONENT, NAMESPACE, PRINCIPAL_COMPONENTSET } from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged, specOrConditionsChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { type ComponentUsers, componentStatus } from './plan.ts';

export function createMachineComponentController(): Controller {
  return {
    name: 'machinecomponent',
    reads: [
      read(MACHINE_COMPONENTS, { changed: specOrConditionsChanged }),
      read(MACHINE_COMPONENT_SETS, { keys: refsOf, changed: partChanged(refsOf) }),
      read(MACHINES, { keys: refsOf, changed: partChanged(refsOf) }),
    ],
    writes: ['MachineComponent.status'],
    fieldManager: MANAGER_MACHINECOMPONENT,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_COMPONENTSET },
    reconcile: (name, context) => Promise.resolve(reconcile(name, context)),
  };
}

function refsOf({ spec }: Machine | MachineComponentSet): readonly string[] {
  return spec.components.map(({ componentRef }) => componentRef);
}

function reconcile(name: string, context: ReconcileContext): ReconcileResult {
  const component = context.view<MachineComponent>(MACHINE_COMPONENTS).get(name);
  if (!component) return {};
  const status = componentStatus({ component, use: useOf(name, context), now: context.clock.now() });
  const { status: fitting } = truncateToSchema({ ...component, status });
  context.reportStatus(MACHINE_COMPONENTS, { metadata: { name }, status: fitting });
  return {};
}

/** One machine is enough, so that a version that all have is found at the first. */
function useOf(ref: string, context: ReconcileContext): ComponentUsers {
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
