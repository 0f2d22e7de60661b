/** Waits until something holds in the fleet, within a limit. */

import { CliError } from '../../cli/errors.ts';
import type { Io } from '../../cli/io.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { pollUntil } from '../../os/poll.ts';

export interface Expectation {
  /** Completes "verified: …". */
  readonly what: string;
  readonly withinSeconds: number;
  /** The limit beyond which it would come true without what the step did. Undefined: it would not. */
  readonly mostSeconds?: number;
  /** A command that shows more when it does not hold. */
  readonly lookAt: string;
  /** Why it does not hold yet. Undefined: it holds. */
  readonly reason: () => Promise<string | undefined>;
}

/** Shorter than any soak of the demo, so that no state of a rollout is missed. */
const POLL_MS = 500;
/** How long a person watches without a line. */
const QUIET_MS = 15_000;

/** Returns an expectation with a limit that is so many times as long. */
export function withPatience(expectation: Expectation, factor: number): Expectation {
  const { withinSeconds, mostSeconds = Number.POSITIVE_INFINITY } = expectation;
  return { ...expectation, withinSeconds: Math.min(withinSeconds * factor, mostSeconds) };
}

/** `onChange` gets each new reason, and one that lasts again from time to time. Rejects with the last one when the time is over. */
export async function verifyExpectation(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  { what, withinSeconds, lookAt, reason }: Expectation,
  onChange: (reason: string) => void,
): Promise<void> {
  const startMs = clock.monotonicMs();
  const deadlineMs = startMs + withinSeconds * 1000;
  let [last, toldMs] = [undefined as string | undefined, startMs];
  const tell = (text: string): void => {
    toldMs = clock.monotonicMs();
    onChange(text);
  };
  const holds = async (): Promise<boolean> => {
    const found = await readReason(reason);
    const nowMs = clock.monotonicMs();
    if (found !== undefined && found !== last) tell(found);
    else if (found !== undefined && nowMs - toldMs >= QUIET_MS) {
      tell(`${found}; ${Math.round((nowMs - startMs) / 1000)} of at most ${withinSeconds} s`);
    }
    last = found;
    return found === undefined;
  };
  if (await pollUntil(holds, { clock, everyMs: POLL_MS, deadlineMs, signal })) return;
  throw new CliError(`not verified within ${withinSeconds} s: ${what}`, {
    where: `observed last: ${last}`,
    hint: `look at: ${lookAt}`,
  });
}

/** An API server that does not answer is a reason, too: it may answer later. */
async function readReason(reason: Expectation['reason']): Promise<string | undefined> {
  try {
    return await reason();
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error.message;
  }
}
