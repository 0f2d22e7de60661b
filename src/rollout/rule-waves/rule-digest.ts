/** The digest by which the waves of a rule are kept: of what the rule does to machines, not of what people read. Pure. */
import type { NodeRemedierSpec } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';

/** 128 bits: the ledger holds several of each rule. */
const HEX = 32;

/**
 * Returns the same digest for two versions of a rule that act alike: the owner, the tests, the mode, the rank among rules and the history of
 * jobs change nothing on a machine. So a comment neither begins the waves again nor skips one.
 */
export function behaviorDigest({ spec }: { readonly spec: NodeRemedierSpec }): string {
  const { owner: _, tests: __, mode: ___, priority: ____, job, ...behavior } = spec;
  const { deadlineSeconds } = job;
  return digestOf({ ...behavior, deadlineSeconds })
    .replace('sha256:', '')
    .slice(0, HEX);
}
