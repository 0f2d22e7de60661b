/** Steps that keep pods away from a node, and those that let them return. */
import { QUALIFIED_NAME } from '../patterns.ts';
import { choice, text } from '../schema.ts';
import { step } from './step.ts';

const key = text('Taint key.', { max: 317, min: 1, pattern: QUALIFIED_NAME });

/** Kubernetes detaches volumes and deletes pods of a node with this taint. */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

export const cordon = step('Cordon', 'Marks the node unschedulable, with the id of our grant.', {
  risk: 'Pod',
  executor: 'Central',
  undo: { step: 'Uncordon' },
});

export const uncordon = step('Uncordon', 'Removes our own cordon; the cordon of a person stays.', {
  risk: 'None',
  executor: 'Central',
  recovery: true,
});

export const taint = step(
  'Taint',
  'Adds a taint to the node, recorded with our grant.',
  { risk: 'Pod', executor: 'Central', undo: { step: 'Untaint', keep: ['key'] } },
  {
    key,
    value: text('Taint value.', { max: 63 }).optional(),
    effect: choice('Taint effect.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']).default('NoSchedule'),
  },
);

export const untaint = step(
  'Untaint',
  'Removes a taint that we added; taints of others stay.',
  { risk: 'None', executor: 'Central', recovery: true },
  { key },
);

export const outOfServiceTaint = step(
  'OutOfServiceTaint',
  'Releases the pods and volumes of a node that is confirmed to be powered off.',
  {
    risk: 'Node',
    executor: 'Central',
    undo: { step: 'Untaint', with: { key: OUT_OF_SERVICE } },
  },
);
