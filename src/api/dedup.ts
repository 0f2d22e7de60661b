/** Which repairs of different rules stand for each other. No npm package here. */
import type { NodeRemedier } from './generated/types.ts';

/** The group of a rule's jobs. A rule without a group is a group of its own. */
export function dedupGroup({ metadata, spec }: Pick<NodeRemedier, 'metadata' | 'spec'>): string {
  return spec.dedup?.group ?? metadata.name;
}
