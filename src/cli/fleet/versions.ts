import type { MachineComponent } from '../../api/generated/types.ts';
import type { ObjectName } from '../../kube/objects/object.ts';

export type FindMachineComponent = (name: ObjectName | string) => MachineComponent | undefined;

/** Of those that were read, by name, as a store of the controllers finds them. */
export function findComponentIn(components: readonly MachineComponent[]): FindMachineComponent {
  const byName = new Map(components.map((component) => [component.metadata.name, component]));
  return (key) => byName.get(typeof key === 'string' ? key : key.name);
}
