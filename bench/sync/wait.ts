/** Waits for what the audit log shows. */
import { createSystemClock } from '../../src/os/system-clock.ts';
import { type Call, isWrite } from './audit.ts';
import type { Bed } from './bed.ts';

const PATIENCE_MS = 180_000;
const POLL_MS = 100;
const QUIET_MS = 3000;
const clock = createSystemClock();

export async function eventually(
  { audit }: Bed,
  holds: (calls: readonly Call[]) => Promise<boolean> | boolean,
  what: string,
): Promise<readonly Call[]> {
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  while (clock.monotonicMs() < endMs) {
    const calls = await audit.calls();
    if (await holds(calls)) return calls;
    await clock.sleep(POLL_MS);
  }
  throw new Error(`timed out after ${PATIENCE_MS / 1000} s: expected that ${what}`);
}

/** No write for some seconds: sync has nothing left to do. */
export async function quiet(bed: Bed): Promise<readonly Call[]> {
  return eventually(bed, isQuiet, 'writes have ended');
}

function isQuiet(calls: readonly Call[]): boolean {
  const lastMs = calls.findLast(isWrite)?.answeredMs ?? 0;
  return clock.now().getTime() - lastMs > QUIET_MS;
}
