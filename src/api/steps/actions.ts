/** Lists what a grant is for: a repair step, or another act. No npm package here. */
import type { Risk } from '../enums.ts';

/** Maps the acts of controllers other than repair steps. The machine controller asks for Drain under the name of the step. */
const CONTROLLER_ACTIONS = {
  UpdateComponent: 'Node',
  DeleteMachine: 'Machine',
  DeleteInstance: 'Machine',
  UpdateControlPlane: 'Node',
} as const satisfies Readonly<Record<string, Risk>>;

/** Maps the acts that no part of kubenode carries out: people and other tools do, and ask the Defender for them. */
export const OUTSIDE_ACTIONS = {
  Reprovision: 'Data',
  WipeDisk: 'Data',
} as const satisfies Readonly<Record<string, Risk>>;

/** Maps the acts other than repair steps to the highest risk that each can have. */
export const OTHER_ACTION_RISKS = { ...CONTROLLER_ACTIONS, ...OUTSIDE_ACTIONS };

export type OtherAction = keyof typeof OTHER_ACTION_RISKS;

export const OTHER_ACTIONS = Object.keys(OTHER_ACTION_RISKS) as readonly OtherAction[];
