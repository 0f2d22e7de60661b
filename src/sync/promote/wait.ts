/** "Why it waits", in the one form of our kinds. Pure. */
import type { Wait } from '../../api/generated/types.ts';
import { type Because, cut, MAX_MESSAGE, optional } from './snapshot.ts';

/** The same reason for the same object goes on: since when does not begin anew. */
export function waitFor(before: Wait | undefined, because: Because, now: Date): Wait {
  const since = before && isSame(before, because) ? before.since : now.toISOString();
  const { reason, blocker } = because;
  return { reason, ...optional('blocker', blocker), since, message: cut(because.because, MAX_MESSAGE) };
}

function isSame(before: Wait, { reason, blocker }: Because): boolean {
  return (
    before.reason === reason &&
    before.blocker?.kind === blocker?.kind &&
    before.blocker?.name === blocker?.name
  );
}
