/** What the compiler knows of each step: how much it may harm, and whether this version can carry it out. */
import type { Risk } from '../api/enums.ts';
import { STEPS } from '../api/steps/steps.ts';

export type Step = (typeof STEPS)[number];

export const RISK_OF: Readonly<Record<Step, Risk>> = {
  CollectDiagnostics: 'None',
  RearmDetector: 'None',
  Notify: 'None',
  WaitForCondition: 'None',
  WaitForBoot: 'None',
  RequestApproval: 'None',
  HandOff: 'None',
  CleanDisk: 'None',
  Uncordon: 'None',
  Untaint: 'None',
  PowerOn: 'None',
  Cordon: 'Pod',
  Taint: 'Pod',
  RestartService: 'Pod',
  ReinstallComponent: 'Pod',
  EvictPods: 'Pod',
  Drain: 'Pod',
  ResetGPU: 'Node',
  Reboot: 'Node',
  PowerOff: 'Node',
  PowerCycle: 'Node',
  OutOfServiceTaint: 'Node',
  AnswerProvider: 'Machine',
  ReplaceMachine: 'Machine',
  Reprovision: 'Data',
  WipeDisk: 'Data',
};

/** Steps that need a provider, a BMC or a GPU: known by name, carried out by nobody yet. */
const LATER: ReadonlySet<Step> = new Set<Step>([
  'PowerOn',
  'ResetGPU',
  'PowerOff',
  'PowerCycle',
  'OutOfServiceTaint',
  'AnswerProvider',
  'ReplaceMachine',
  'Reprovision',
  'WipeDisk',
]);

export const STEPS_NOW: readonly Step[] = STEPS.filter((step) => !LATER.has(step));

export function isStep(word: unknown): word is Step {
  return STEPS.some((step) => step === word);
}

export function isAvailable(step: Step): boolean {
  return !LATER.has(step);
}
