/** Decides when downloads begin, how fast they are, and when one is tried again, so that a fleet never takes more than it declares. Pure. */
import type { DeclaredBandwidth } from './settings.ts';

export interface DownloadPace {
  readonly bytesPerSecond: number;
  /** The download begins at a random time within this window. */
  readonly startWindowMs: number;
  readonly because: string;
}

/**
 * A server sends these bytes before the reader slows it down: it fills the buffers of the connection. Linux begins with 128 KiB for the receiver
 * (net.ipv4.tcp_rmem), and the reader has up to two pieces of 64 KiB in hand.
 */
export const CONNECTION_BYTES = 256 * 1024;
/** The rest of a share is for those first bytes, headers and packets that are sent again. */
const PACED_SHARE = 0.9;

/**
 * Agents do not know of each other, so each takes its part of the whole and no more, also when it is alone. The window spreads the first bytes
 * of the connections so that they fit into the rest.
 */
export function planPace({ bytesPerSecond, agents }: DeclaredBandwidth): DownloadPace {
  const share = bytesPerSecond / agents;
  return {
    bytesPerSecond: Math.max(1, Math.floor(share * PACED_SHARE)),
    startWindowMs: Math.ceil((CONNECTION_BYTES / (share * (1 - PACED_SHARE))) * 1000),
    because: `${agents} agents share ${bytesPerSecond} bytes per second`,
  };
}

export interface FailedAttempt {
  /** The number of failures in a row for which the server did not ask to wait, with this one. */
  readonly failures: number;
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** How long servers asked to wait before, in all. */
  readonly askedMs: number;
  readonly random: number;
}

export type RetryPlan =
  | { readonly type: 'Retry' | 'FailAfter'; readonly delayMs: number; readonly because: string }
  | { readonly type: 'Fail'; readonly because: string };

const FIRST_MS = 1000;
/** With the delays before them, about half a minute. Then the failure is reported, and tried again as each operation that fails. */
const MAX_FAILURES = 5;
/** A server that is busy for longer is reported, after the time for which it asked. */
const MAX_ASKED_MS = 3_600_000;
/** The longest single wait. A server that asks for more is not one that is busy. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** A wait that a server asked for is at most doubled at random, and never shortened: agents that it sent away must not return together. */
export function planRetry({ failures, retryAfterMs, askedMs, random }: FailedAttempt): RetryPlan {
  if (retryAfterMs === undefined) {
    if (failures >= MAX_FAILURES) return { type: 'Fail', because: `it failed ${failures} times` };
    const delayMs = FIRST_MS * 2 ** (failures - 1) * (0.5 + random);
    return { type: 'Retry', delayMs, because: `attempt ${failures} failed` };
  }
  const waitMs = Math.min(MAX_RETRY_AFTER_MS, retryAfterMs);
  const delayMs = Math.max(FIRST_MS, waitMs) * (1 + random);
  const because = `the server asked to wait ${Math.ceil(waitMs / 1000)} s`;
  return { type: askedMs + waitMs > MAX_ASKED_MS ? 'FailAfter' : 'Retry', delayMs, because };
}
