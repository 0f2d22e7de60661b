/** Checks MachineComponents and shows who uses them, as kubenode-componentset. Every choice is made in plan.ts. */
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { MachineComponent } from '../../api/generated/types.ts';
import { MANAGER_MACHINECOMPONENT, NAMESPACE, PRINCIPAL_COMPONENTSET } from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged, specOrConditionsChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { observeUsers, refsOf } from './observe.ts';
import { planComponentUse } from './plan.ts';
import { componentStatus } from './status.ts';

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

function reconcile(name: string, context: ReconcileContext): ReconcileResult {
  const component = context.view<MachineComponent>(MACHINE_COMPONENTS).get(name);
  if (!component) return {};
  const input = observeUsers(component, context);
  const status = componentStatus(input, planComponentUse(input));
  const { status: fitting } = truncateToSchema({ ...component, status });
  context.reportStatus(MACHINE_COMPONENTS, { metadata: { name }, status: fitting });
  return {};
}
