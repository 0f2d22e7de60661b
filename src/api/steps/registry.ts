/** All steps, in the order of the manual: by risk. `npm run generate` writes them to `src/api/generated/steps.ts`. */
import { OTHER_ACTIONS } from './actions.ts';
import { reinstallComponent, restartService } from './components.ts';
import { cleanDisk } from './disk.ts';
import { collectDiagnostics, rearmDetector } from './evidence.ts';
import { answerProvider, replaceMachine } from './machines.ts';
import { handOff, notify, requestApproval } from './people.ts';
import { drain, evictPods } from './pods.ts';
import { powerCycle, powerOff, powerOn, reboot, resetGpu } from './power.ts';
import { cordon, outOfServiceTaint, taint, uncordon, untaint } from './scheduling.ts';
import type { StepDefinition } from './step.ts';
import { waitForBoot, waitForCondition } from './waits.ts';

export const STEP_DEFINITIONS: readonly StepDefinition[] = [
  collectDiagnostics,
  rearmDetector,
  notify,
  waitForCondition,
  waitForBoot,
  requestApproval,
  handOff,
  cleanDisk,
  uncordon,
  untaint,
  powerOn,
  cordon,
  taint,
  restartService,
  reinstallComponent,
  evictPods,
  drain,
  resetGpu,
  reboot,
  powerOff,
  powerCycle,
  outOfServiceTaint,
  answerProvider,
  replaceMachine,
];

const [first = '', ...others] = STEP_DEFINITIONS.map(({ name }) => name);

/** Values of `spec.ladder[].plan[].step`. */
export const STEP_NAMES = [first, ...others] as const;
/** Values of `actions` in a DefenderPolicy. */
export const ACTION_NAMES = [...STEP_NAMES, ...OTHER_ACTIONS] as const;
