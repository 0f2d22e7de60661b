/** The same refusal in many clusters has one cause: it is shown once, with the clusters. Pure. */
import { listTargets } from '../target-names.ts';
import type { Refusal } from './refusal.ts';

export interface RefusalGroup extends Pick<Refusal, 'object' | 'message' | 'source'> {
  /** The names of the clusters: `test`, or `test, pre and 7 more`. */
  readonly targets: string;
}

/** Groups refusals, in the order of their first ones. */
export function groupRefusals(refusals: readonly Refusal[]): readonly RefusalGroup[] {
  const groups = Map.groupBy(refusals, ({ object, message, source }) =>
    JSON.stringify([object, message, fileOf(source)]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { object, message, source } = first;
    return [{ object, message, source, targets: listTargets(group.map(({ target }) => target)) }];
  });
}

/** The path of the construct after it begins with the cluster. */
function fileOf(source: string): string {
  return source.split(' ', 1)[0] ?? '';
}
