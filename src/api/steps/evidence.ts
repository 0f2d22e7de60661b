/** Steps that collect evidence from a machine before it is destroyed, or evaluate its conditions again. */
import { COMPONENT_NAME, SIZE } from '../patterns.ts';
import { text } from '../schema.ts';
import { step } from './step.ts';

export const collectDiagnostics = step(
  'CollectDiagnostics',
  'Collects logs and system state on the machine. Its failure never blocks a repair.',
  { risk: 'None', executor: 'Agent' },
  {
    profile: text('Name of a collection profile in the configuration of the agent.', {
      max: 63,
      pattern: COMPONENT_NAME,
    }).default('default'),
    maxBytes: text('Size limit of the collected files.', { max: 16, pattern: SIZE }).default('64Mi'),
  },
);

export const rearmDetector = step(
  'RearmDetector',
  'Makes the problem detector of the agent evaluate all of its conditions again, also those that do not clear by themselves.',
  { risk: 'None', executor: 'Agent' },
  {},
);
