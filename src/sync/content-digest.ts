/** The digest of a plan, which an approval names. Pure. */
import { byCode, digestOf } from '../kube/objects/digest.ts';
import { HUB_TARGET } from './rendered.ts';

/**
 * Over what a commit renders to for each cluster, and nothing else: a pull request and the commit that merges it have the same
 * digest, and so has a following commit that changes no cluster, as one that approves it. The hub's own objects are not promoted.
 */
export function contentDigestOf(targets: Iterable<readonly [target: string, digest: string]>): string {
  const content = [...targets].filter(([target]) => target !== HUB_TARGET);
  return digestOf(content.toSorted(([a], [b]) => byCode(a, b)));
}
