/** Steps that repair what runs on the host. */
import { COMPONENT_NAME } from '../patterns.ts';
import { text } from '../schema.ts';
import { step } from './step.ts';

export const restartService = step(
  'RestartService',
  'Restarts a service that the configuration of the agent allows.',
  { risk: 'Pod', executor: 'Agent' },
  { service: text('Name of the service, without ".service".', { max: 63, pattern: COMPONENT_NAME }) },
);

export const reinstallComponent = step(
  'ReinstallComponent',
  'Verifies, stages, swaps and starts the assigned version of a component again.',
  { risk: 'Pod', executor: 'Agent' },
  { component: text('Name of the component.', { max: 40, pattern: COMPONENT_NAME }) },
);
