/** Names of the machines of a set: the same in every process, so that a create that is repeated creates nothing. Pure. */
import { digestOf } from '../../kube/objects/digest.ts';
import type { Metadata } from '../../kube/objects/object.ts';

const PREFIX = 'sha256:'.length;
/** A name of a set has at most 54 characters, and that of a machine 63. */
const LENGTH = 8;

export function machineName({ name, uid }: Pick<Metadata, 'name' | 'uid'>, index: number): string {
  return `${name}-${digestOf([uid, index]).slice(PREFIX, PREFIX + LENGTH)}`;
}

/** The first names that no Machine has. */
export function freeNames(
  set: Pick<Metadata, 'name' | 'uid'>,
  taken: ReadonlySet<string>,
  count: number,
): readonly string[] {
  const names = new Set<string>();
  for (let index = 0; names.size < count; index += 1) {
    const name = machineName(set, index);
    if (!taken.has(name)) names.add(name);
  }
  return [...names];
}
