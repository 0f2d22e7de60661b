import type { MachineComponent } from '../../api/generated/types.ts';
import type { ObjectName } from '../../kube/objects/object.ts';

export type FindMachineComponent = (name: ObjectName | string) => MachineComponent | undefined;

/** Finds a MachineComponent among those that were read, by name, as a store of the controllers does. */
export function findComponentIn(components: readonly MachineComponent[]): FindMachineComponent {
  const byName = new Map(components.map((component) => [component.metadata.name, component]));
  return (key) => byName.get(typeof key === 'string' ? key : key.name);
}
