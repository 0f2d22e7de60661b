/** Describes what hosting waits for. Pure. */
import type { HostingWait } from './input.ts';

export function wait(
  reason: string,
  message: string,
  [kind, name]: readonly [kind: string, name: string],
  stalled?: 'stalled',
): HostingWait {
  return { reason, message, blocker: { kind, name: name.slice(-253) }, isStalled: stalled !== undefined };
}
