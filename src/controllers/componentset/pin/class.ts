/** How much a change of pins disturbs the machine. Pure. */
import type { ActivationClass } from '../../../api/enums.ts';
import type { Machine, MachineComponent, MachineComponentEntry } from '../../../api/generated/types.ts';
import { classifyChange, type HostContent, worstClass } from '../revision/change-class.ts';

type Find = (componentRef: string) => MachineComponent | undefined;

/** The parameters of what is installed are not reported: another content of the same version may be any change. */
export function classOfPins(
  { status }: Machine,
  pins: readonly MachineComponentEntry[],
  find: Find,
): ActivationClass {
  return worstClass(
    pins.map((entry) => {
      const { currentRef } = status?.components?.find(({ name }) => name === entry.name) ?? {};
      const before = currentRef === undefined ? 'Absent' : installed(currentRef, entry, find);
      return classifyChange(before, desired(entry, find)).class;
    }),
  );
}

function installed(
  currentRef: string,
  { componentRef, parameters }: MachineComponentEntry,
  find: Find,
): HostContent {
  return currentRef === componentRef ? 'Unknown' : contentOf(currentRef, parameters, find);
}

function desired({ state, componentRef, parameters }: MachineComponentEntry, find: Find): HostContent {
  return state === 'Absent' ? 'Absent' : contentOf(componentRef, parameters, find);
}

function contentOf(
  componentRef: string,
  parameters: MachineComponentEntry['parameters'],
  find: Find,
): HostContent {
  const component = find(componentRef);
  return component ? { spec: component.spec, parameters } : 'Unknown';
}
