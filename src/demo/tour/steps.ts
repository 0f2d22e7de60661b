/** The steps of the tour, in their order. Each also runs alone. */
import type { TourStep } from './step.ts';
import { badRuleStep } from './steps/bad-rule.ts';
import { badVersionStep } from './steps/bad-version.ts';
import { crashStep } from './steps/crash.ts';
import { darkZoneStep } from './steps/dark-zone.ts';
import { fleetLimitsStep } from './steps/fleet-limits.ts';
import { freezeStep } from './steps/freeze.ts';
import { hostedClusterStep } from './steps/hosted-cluster.ts';
import { kernelHangStep } from './steps/kernel-hang.ts';
import { pushHookStep } from './steps/push-hook.ts';
import { repairStep } from './steps/repair.ts';
import { rolloutStep } from './steps/rollout.ts';
import { unsignedCommitStep } from './steps/unsigned-commit.ts';

export const TOUR_STEPS: readonly TourStep[] = [
  rolloutStep,
  badVersionStep,
  fleetLimitsStep,
  repairStep,
  kernelHangStep,
  darkZoneStep,
  badRuleStep,
  unsignedCommitStep,
  freezeStep,
  pushHookStep,
  hostedClusterStep,
  crashStep,
];
