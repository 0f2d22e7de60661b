/** The plan of a controller that follows another system, in a line for each decision. */
import type { FollowPlan } from '../../../src/controllers/following/plan.ts';

export function explainFollow({ actions, unfollowed }: FollowPlan): readonly string[] {
  return [
    ...actions.map((each) => {
      const name = each.type === 'Delete' ? each.machine.metadata.name : each.desired.name;
      return `${each.type} ${name}: ${each.because}`;
    }),
    ...unfollowed.map(
      ({ state, machine: name, reason, message }) => `${state} ${name} ${reason}: ${message}`,
    ),
  ];
}
