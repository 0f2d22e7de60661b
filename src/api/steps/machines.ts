/** Steps that can destroy the machine. */
import { choice, flag, int, named } from '../schema.ts';
import { step } from './step.ts';

export const answerProvider = step(
  'AnswerProvider',
  'Answers a MaintenanceEvent of the provider. Ambiguous until the host ID or the boot ID has changed.',
  { risk: 'Machine', executor: 'Central' },
  {
    answer: choice('StartNow asks the provider not to wait.', ['Accept', 'StartNow']),
  },
);

export const replaceMachine = step(
  'ReplaceMachine',
  'Replaces the machine through its MachineSet.',
  { risk: 'Machine', executor: 'Central' },
  {
    replacementFirst: flag('The replacement is Ready before the machine is drained.').default(false),
    keepFailed: named(
      'KeepFailedMachines',
      'Keeps the drained instance for an analysis, if fewer than `max` are kept.',
      {
        holdSeconds: int('How long it is kept once the machine is drained.', [60, 2_592_000]),
        max: int('How many machines of its MachineSet are kept at a time.', [1, 20]).default(1),
      },
    ).optional(),
  },
);
