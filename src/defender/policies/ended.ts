/** Times of a policy that are over, so what was declared until then does nothing any more. Pure. */
import type { DefenderPolicySpec } from '../../api/generated/types.ts';
import type { Problem } from '../../api/validation/validate.ts';

export type PolicyTimes = Partial<Pick<DefenderPolicySpec, 'freezes' | 'killSwitch'>>;

export function endedTimes({ freezes = [], killSwitch }: PolicyTimes, now: Date): readonly Problem[] {
  return [
    ...(killSwitch?.engaged === true ? ended('spec.killSwitch.until', killSwitch.until, now) : []),
    ...freezes.flatMap(({ until }, index) => ended(`spec.freezes[${index}].until`, until, now)),
  ];
}

function ended(path: string, until: string | undefined, now: Date): readonly Problem[] {
  if (until === undefined || !(Date.parse(until) <= +now)) return [];
  return [{ path, message: `ended at ${until}, so it denies nothing: remove it, or set a later time` }];
}
