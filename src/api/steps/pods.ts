/** Steps that move pods away. They evict, so PodDisruptionBudgets always hold. */
import { QUALIFIED_NAME } from '../patterns.ts';
import { choice, int, text } from '../schema.ts';
import { step } from './step.ts';

export const evictPods = step(
  'EvictPods',
  'Evicts the pods that use most of one resource.',
  { risk: 'Pod', executor: 'Central' },
  {
    by: choice('Resource that is compared.', ['ephemeral-storage', 'memory', 'cpu']),
    top: int('How many pods are evicted, the largest first.', [1, 50]).default(1),
  },
);

export const drain = step(
  'Drain',
  'Evicts all pods of a cordoned node, except those of DaemonSets.',
  { risk: 'Pod', executor: 'Central' },
  {
    deadNode: choice('What to do when the kubelet does not answer, so that no pod can end.', [
      'Wait',
      'Skip',
    ]).default('Wait'),
    requests: text('Only pods that request this resource, such as nvidia.com/gpu. Default: all pods.', {
      max: 317,
      min: 1,
      pattern: QUALIFIED_NAME,
    }).optional(),
  },
);
