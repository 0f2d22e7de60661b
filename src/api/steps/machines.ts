/** Steps that can destroy the machine. */
import { choice, flag, int, named } from '../schema.ts';
import { step } from './step.ts';

export const answerProvider = step(
  'AnswerProvider',
  'Answers a MaintenanceEvent of the provider. Ambiguous until the host ID or the boot ID has changed.',
  { risk: 'Machine', executor: 'Central' },
  {
    answer: choice('StartNow asks the provider not to wait. No provider of this version takes Defer.', [
      'Accept',
      'Defer',
      'StartNow',
    ]),
  },
);

export const replaceMachine = step(
  'ReplaceMachine',
  'Replaces the machine through its MachineSet.',
  { risk: 'Machine', executor: 'Central' },
  {
    replacementFirst: flag('The replacement is Ready before the machine is drained.').default(false),
    keepFailed: named('KeepFailedMachines', 'Keeps the failed instance for an analysis.', {
      holdSeconds: int('How long it is kept.', [60, 2_592_000]),
      max: int('How many are kept at a time.', [1, 20]).default(1),
    }).optional(),
  },
);
