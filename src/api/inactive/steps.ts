/** The fields in the `with` of each step that this version does not act on: the compiler refuses them, and so do job and agent. */
import type { InactiveField } from './field.ts';

export const INACTIVE_STEP_INPUTS: Readonly<Record<string, readonly InactiveField[]>> = {
  AnswerProvider: [
    { path: 'answer', accepts: ['Accept', 'StartNow'], because: 'no provider can be asked to wait' },
  ],
  Drain: [{ path: 'gang', accepts: ['None'], because: 'the other pods of a job are not searched for' }],
};
