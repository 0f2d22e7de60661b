/** Reads what the agent of a machine reports of an entry, and of the entries as a whole. Pure. No npm package here. */
import { digestOf } from '../../kube/objects/digest.ts';
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
export function isObserved(machine: Machine): boolean {
  const { metadata, status } = machine;
  return (status?.agent?.observedGeneration ?? 0) >= (metadata.generation ?? 0) || hasOnlyLostGrants(machine);
}

/**
 * Tells whether the agent has acted on these entries when they had grants. An agent that loses its grants has nothing to do, so it
 * reports the generation of that change with its next report.
 */
export function hasOnlyLostGrants({ spec, status }: Machine): boolean {
  const observed = status?.agent?.entriesDigest;
  return observed !== undefined && !hasGrants(spec) && observed === entriesDigest(spec);
}

export function hasGrants({ components }: Pick<Machine['spec'], 'components'>): boolean {
  return components.some(({ grant }) => grant !== undefined);
}

/** Returns the digest of what an agent acts on: the entries without their grants, and the token that asks to try all of them again. */
export function entriesDigest({
  components,
  retryToken,
}: Pick<Machine['spec'], 'components' | 'retryToken'>): string {
  return digestOf({ components: components.map(({ grant: _grant, ...entry }) => entry), retryToken });
}
