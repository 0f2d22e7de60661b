/** Describes what an object waits for, as its status reports it. Pure. No npm package here. */
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { Wait } from '../generated/types.ts';

export const MAX_WAIT_MESSAGE = 256;

export interface FoundWait {
  readonly reason: string;
  readonly message: string;
  readonly blocker?: Wait['blocker'] | undefined;
}

/**
 * Returns the wait with the time since which it lasts. The same wait continues while its reason and its blocker are the same: what else the
 * message names may change.
 */
export function waitingSince(
  { reason, message, blocker }: FoundWait,
  before: Wait | undefined,
  now: Date,
): Wait {
  const isSame = before?.reason === reason && before.blocker?.name === blocker?.name;
  return {
    reason,
    ...optional('blocker', blocker),
    since: isSame ? before.since : now.toISOString(),
    message: truncate(message, MAX_WAIT_MESSAGE),
  };
}
