/** Derives what an entry of Machine.spec.components asks for, apart from who assigned and permitted it. No npm package here. */
import { digestOf } from '../../kube/objects/digest.ts';
import type { MachineComponentEntry } from '../generated/types.ts';

export type EntryContent = Omit<MachineComponentEntry, 'assignment' | 'grant'>;

export function entryContent({ name, componentRef, digest, state, parameters }: EntryContent): EntryContent {
  return { name, componentRef, digest, state, parameters };
}

/** Returns the digest that a grant names, so that a grant for one content of an entry never permits another one. */
export function entryDigest(entry: EntryContent | MachineComponentEntry): string {
  return digestOf(entryContent(entry));
}
