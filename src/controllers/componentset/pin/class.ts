/** How much a change of pins disturbs the machine. Pure. */
import type { ActivationClass } from '../../../api/enums.ts';
import type { Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import { classifyChange, type HostContent, worstClass } from '../revision/change-class.ts';
import { contentOf, type FindInstalled } from '../revision/entry-content.ts';

/** The parameters of what is installed are not reported: another content of the same version may be any change. */
export function classOfPins(
  { status }: Machine,
  pins: readonly MachineComponentEntry[],
  find: FindInstalled,
): ActivationClass {
  return worstClass(
    pins.map((entry) => {
      const { currentRef } = status?.components?.find(({ name }) => name === entry.name) ?? {};
      const before = currentRef === undefined ? 'Absent' : installed(currentRef, entry, find);
      return classifyChange(before, contentOf(entry, find)).class;
    }),
  );
}

function installed(
  currentRef: string,
  { componentRef, parameters }: MachineComponentEntry,
  find: FindInstalled,
): HostContent {
  if (currentRef === componentRef) return 'Unknown';
  return contentOf({ componentRef: currentRef, parameters, state: 'Present' }, find);
}
