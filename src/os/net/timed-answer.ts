/** Limits how long an answer may take. I/O goes through the clock and what is asked. */
import type { Clock } from '../clock.ts';
import { messageOf, systemCode } from '../errors.ts';

export interface AnswerLimit {
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

export type TimedAnswer<T> = { readonly answer: T } | { readonly problem: string };

const TIMEOUT_MS = 10_000;

/** Never rejects: an error and a timeout are a problem. */
export async function answerInTime<T>(
  { clock, timeoutMs = TIMEOUT_MS }: AnswerLimit,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<TimedAnswer<T>> {
  const end = new AbortController();
  const timer = new AbortController();
  const timeout = clock.sleep(timeoutMs, timer.signal).then(
    () => ({ problem: `no answer within ${Number((timeoutMs / 1000).toFixed(2))} s` }),
    () => ({ problem: 'answered' }),
  );
  const asked = async (): Promise<TimedAnswer<T>> => ({ answer: await ask(end.signal) });
  try {
    return await Promise.race([asked(), timeout]);
  } catch (error) {
    return { problem: failureText(error) };
  } finally {
    end.abort();
    timer.abort();
  }
}

/** Returns why nothing answered: `fetch` has that in the cause of its error. */
function failureText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(cause) || (systemCode(cause) ?? 'no answer');
}
