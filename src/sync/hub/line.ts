/** The accepted commits in their order: what promotion moves along. Pure. */

import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import type { AcceptedCommit, TargetDigests } from '../commits.ts';
import type { CommitInfo } from '../git/transport.ts';
import { HUB_TARGET, type Rendered } from '../rendered.ts';

/** Oldest first, from the oldest commit that is named. `walked` is the history of the newest one, newest first. */
export function selectCommits(walked: readonly CommitInfo[], named: ReadonlySet<string>): CommitInfo[] {
  const oldest = walked.findLastIndex(({ oid }) => named.has(oid));
  return walked.slice(0, oldest + 1).toReversed();
}

export function toCommit(info: CommitInfo, rendered?: Rendered, before?: Rendered): AcceptedCommit {
  const [parent] = info.parents;
  return {
    id: info.oid,
    ...(parent ? { parent } : {}),
    author: info.author,
    subject: info.subject,
    committedAt: info.committedAt,
    ...(info.revertOf ? { revertOf: info.revertOf } : {}),
    ...(rendered
      ? { targets: digestsOf(rendered), ...(before ? { deletes: deletesOf(before, rendered) } : {}) }
      : {}),
  };
}

/** By cluster; the hub's own objects follow the newest accepted commit and are not promoted. */
function digestsOf({ targets }: Rendered): ReadonlyMap<string, TargetDigests> {
  return new Map(
    targets
      .filter(({ target }) => target !== HUB_TARGET)
      .map(({ target, digest, units }) => [
        target,
        { digest, units: new Map(units.map((unit) => [unit.unit, unit.digest])) },
      ]),
  );
}

/** Objects of clusters that are in both commits, gone in the second. */
function deletesOf(before: Rendered, after: Rendered): number {
  const now = new Map(after.targets.map(({ target, units }) => [target, keysOf(units)]));
  return before.targets.reduce((sum, { target, units }) => {
    const kept = now.get(target);
    return kept ? sum + [...keysOf(units)].filter((key) => !kept.has(key)).length : sum;
  }, 0);
}

function keysOf(units: Rendered['targets'][number]['units']): Set<string> {
  return new Set(units.flatMap(({ objects }) => objects.map(({ object }) => objectKey(objectIdOf(object)))));
}
