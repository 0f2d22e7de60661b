/** The fields in the `with` of each step that this version does not act on: the compiler refuses them, and so do job and agent. */
import type { InactiveField } from './field.ts';

const NO_AGE_OF_IMAGES = 'the runtime does not report since when an image is unused';
const NO_ORPHANS = 'volumes without a pod are not searched for';

export const INACTIVE_STEP_INPUTS: Readonly<Record<string, readonly InactiveField[]>> = {
  RearmDetector: [{ path: 'conditions', because: 'the detector evaluates all of its conditions again' }],
  RequestApproval: [
    { path: 'approvers', because: 'the approvers of the DefenderPolicy are the only ones who can answer' },
  ],
  CleanDisk: [
    {
      path: 'targets[]',
      accepts: ['unusedImages', 'deadContainers', 'rotatedLogs', 'coreDumps'],
      because: NO_ORPHANS,
    },
    { path: 'minAgeSeconds.orphanVolumes', because: NO_ORPHANS },
    { path: 'minAgeSeconds.unusedImages', because: NO_AGE_OF_IMAGES },
  ],
  AnswerProvider: [
    { path: 'answer', accepts: ['Accept', 'StartNow'], because: 'no provider can be asked to wait' },
  ],
  Drain: [{ path: 'gang', accepts: ['None'], because: 'the other pods of a job are not searched for' }],
};
