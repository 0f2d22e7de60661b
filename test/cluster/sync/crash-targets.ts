/** Two commits: `after` adds 200 objects to `before`, changes one and moves one to another unit. */
import { commitNo, configMap, targetOf } from './target-cluster.ts';

export const OBJECTS = 200;

const NEW = Array.from({ length: OBJECTS }, (_, index) => configMap(`new-${index}`));
const KEPT = { web: [configMap('old-0'), configMap('old-1')], other: [configMap('x')] };

export const before = targetOf(commitNo(1), KEPT);
export const after = targetOf(commitNo(2), {
  web: [configMap('old-0', { key: 'changed' }), ...NEW],
  other: [configMap('x'), configMap('old-1')],
});
