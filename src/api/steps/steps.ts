/** The steps of a repair and the other acts that need a grant. No zod here: controllers and the agent import it as it is. */

/** Known steps. The rule compiler refuses by name those that this version cannot carry out. */
export const STEPS = [
  'CollectDiagnostics',
  'RearmDetector',
  'Notify',
  'WaitForCondition',
  'WaitForBoot',
  'RequestApproval',
  'HandOff',
  'CleanDisk',
  'Uncordon',
  'Untaint',
  'PowerOn',
  'Cordon',
  'Taint',
  'RestartService',
  'ReinstallComponent',
  'EvictPods',
  'Drain',
  'ResetGPU',
  'Reboot',
  'PowerOff',
  'PowerCycle',
  'OutOfServiceTaint',
  'AnswerProvider',
  'ReplaceMachine',
  'Reprovision',
  'WipeDisk',
] as const;

/** What a grant is for: a step, or the act of another controller (a Drain is both). */
export const ACTIONS = [...STEPS, 'UpdateComponent', 'DeleteMachine', 'UpdateControlPlane'] as const;
export type Action = (typeof ACTIONS)[number];
