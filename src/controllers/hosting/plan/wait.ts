/** Describes what hosting waits for. Pure. */
import { MAX_WAIT_MESSAGE } from '../../../api/status/waiting.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { HostingWait } from './input.ts';

/** Part of a message that is kept beside a long hint. */
const MIN_MESSAGE = 80;

export function wait(
  reason: string,
  message: string,
  [kind, name]: readonly [kind: string, name: string],
  stalled?: 'stalled',
): HostingWait {
  return { reason, message, blocker: { kind, name: name.slice(-253) }, isStalled: stalled !== undefined };
}

/** Returns the message with what ends the wait. A long message is truncated, so that the status has room for the hint. */
export function withHint(message: string, hint: string): string {
  const room = MAX_WAIT_MESSAGE - hint.length - '; '.length;
  return `${truncate(message, Math.max(room, MIN_MESSAGE))}; ${hint}`;
}
