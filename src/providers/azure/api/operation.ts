/** Follows an operation that Azure accepted and has not finished, as its pages about asynchronous operations describe. */
import { isRecord, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import { readRetryAfterMs } from '../../../os/net/retry-after.ts';
import { isProviderError, type ProviderError } from '../../contract.ts';
import { toArmError } from '../errors.ts';
import type { ArmAnswer, ArmApi } from './client.ts';

export interface OperationLimits {
  readonly api: ArmApi;
  readonly clock: Clock;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
}

/** Holds an operation that ended with an error. */
export class FailedArmOperation extends Error {
  override readonly name = 'FailedArmOperation';
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(error.message);
    this.error = error;
  }
}

const EVERY_MS = 5000;
const MAX_EVERY_MS = 30_000;
const MIN_EVERY_MS = 1000;

/** Returns whether it succeeded before the deadline; false: it is still under way. Throws FailedArmOperation when it failed. */
export async function waitForOperation(
  accepted: ArmAnswer,
  { api, clock, deadlineMs }: OperationLimits,
  signal: AbortSignal,
): Promise<boolean> {
  const path = operationOf(accepted);
  if (path === undefined) return true;
  let last = accepted;
  let pauseMs = pauseOf(accepted, clock);
  while (clock.monotonicMs() + pauseMs <= deadlineMs) {
    await clock.sleep(pauseMs, signal); // oxlint-disable-line no-await-in-loop -- each poll follows the one before
    const polled = await poll(api, path, signal); // oxlint-disable-line no-await-in-loop -- as above
    last = polled ?? last;
    pauseMs = pauseOf(last, clock);
    if (polled && isFinished(polled, clock)) return true;
  }
  return false;
}

function operationOf({ status, headers }: ArmAnswer): string | undefined {
  const named = headers.get('azure-asyncoperation') ?? (status === 202 ? headers.get('location') : undefined);
  return named || undefined;
}

/** Undefined: this poll tells nothing of the operation. Without rights it never would: that is thrown. */
async function poll(api: ArmApi, path: string, signal: AbortSignal): Promise<ArmAnswer | undefined> {
  try {
    return await api.send({ method: 'GET', path, isPoll: true }, signal);
  } catch (error) {
    if (isProviderError(error, 'Retryable')) return undefined;
    throw error;
  }
}

/** An answer of the header Location has the status 202 until the end, and no field `status`. */
function isFinished({ status, json }: ArmAnswer, clock: Clock): boolean {
  const state = textAt(json, 'status');
  if (state === undefined) return status !== 202;
  if (state === 'Succeeded') return true;
  if (state !== 'Failed' && state !== 'Canceled') return false;
  const cause = valueAt(json, 'error');
  const code = textAt(cause, 'code') ?? `Operation${state}`;
  const message = isRecord(cause) ? (textAt(cause, 'message') ?? '') : `the operation is ${state}`;
  throw new FailedArmOperation(
    toArmError({ status: 409, code, message }, { lost: 'Retryable', now: clock.now() }),
  );
}

function pauseOf({ headers }: ArmAnswer, clock: Clock): number {
  const asked = readRetryAfterMs(headers.get('retry-after'), clock.now()) ?? EVERY_MS;
  return Math.min(Math.max(asked, MIN_EVERY_MS), MAX_EVERY_MS);
}
