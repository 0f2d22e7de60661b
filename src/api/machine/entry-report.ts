/** Reads what the agent of a machine reports of an entry. Pure. No npm package here. */
import type { Machine, MachineComponentEntry, MachineComponentReport } from '../generated/types.ts';

/**
 * Returns the report of an entry; undefined when the agent reports another version, or none. `digest` is that of the version that is still
 * installed.
 */
export function reportOf(
  { status }: Machine,
  { name, componentRef }: MachineComponentEntry,
): MachineComponentReport | undefined {
  return status?.components?.find((each) => each.name === name && each.desiredRef === componentRef);
}

/** Tells whether the agent has acted on the newest entries. Before that, what it reports is the end of those before. */
export function isObserved({ metadata, status }: Machine): boolean {
  return (status?.agent?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}
