/** Steps that wait for the node. */
import { QUALIFIED_NAME } from '../patterns.ts';
import { choice, int, text } from '../schema.ts';
import { step } from './step.ts';

export const waitForCondition = step(
  'WaitForCondition',
  'Waits until a condition of the Node has a status.',
  { risk: 'None', executor: 'Central' },
  {
    type: text('Condition type.', { max: 63, min: 1, pattern: QUALIFIED_NAME }),
    status: choice('Status that it must have.', ['True', 'False']).default('True'),
    holdSeconds: int('How long it must keep this status.', [0, 86_400]).default(0),
  },
);

export const waitForBoot = step('WaitForBoot', 'Waits until the node reports another boot ID.', {
  risk: 'None',
  executor: 'Central',
});
