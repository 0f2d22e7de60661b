/** Lists what a grant is for: a repair step, or the act of another controller. No npm package here. */

/** The acts other than repair steps. The machine controller asks for Drain under the name of the step. */
export const OTHER_ACTIONS = [
  'UpdateComponent',
  'DeleteMachine',
  'DeleteInstance',
  'UpdateControlPlane',
] as const;
