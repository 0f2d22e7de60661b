/**
 * A version that is bad, as it really is: once so many of its machines failed together, and none of another version, an act on one
 * of them is of no use. What the ledger counts is not read.
 */
import { type Hazard, isOn, NEW_VERSION, type SimulatedMachine } from './fleet.ts';
import { LIMITS } from './policies.ts';
import type { SimulationRun } from './run.ts';

/** More than it takes: some of them may have a grant that was never used. */
const CLEARLY = 8;
const PERIOD_MS = LIMITS.causeWithinSeconds * 1000;
/** Others see what happens a little later. */
const DELAY_MS = 300_000;
const CONFUSING: readonly Hazard[] = ['viewCut', 'zoneDark', 'massUnknown', 'clockWrong'];

/** A breaker that opened again and again is open for this long. */
const LONGEST_COOLDOWN_MS = 4 * 3_600_000;

/** Before a review, also one that fails. From the first of a series on the breaker may be open, so its cooldown may have begun. */
export function suspectCause({ fleet: { machines, nowMs }, cause }: SimulationRun): void {
  const failed = machines.filter(
    ({ version, brokenMs }) => version === NEW_VERSION && isRecent(brokenMs, nowMs),
  );
  if (failed.length < LIMITS.causeCount) return;
  if (nowMs - cause.lastMs > LONGEST_COOLDOWN_MS) cause.suspectedMs = nowMs;
  cause.lastMs = nowMs;
}

/** After a review. */
export function watchCause({ fleet, cause }: SimulationRun): void {
  if (CONFUSING.some((hazard) => isOn(fleet, hazard))) return;
  const failed = fleet.machines.filter(
    ({ brokenMs, act }) => act === undefined && isRecent(brokenMs, fleet.nowMs),
  );
  const isMixed = failed.some(({ version }) => version !== NEW_VERSION);
  const settled = failed.filter(({ brokenMs }) => fleet.nowMs - brokenMs < PERIOD_MS - DELAY_MS);
  if (!isMixed && settled.length >= CLEARLY) cause.knownMs = fleet.nowMs;
}

function isRecent(brokenMs: number, nowMs: number): boolean {
  return brokenMs > 0 && nowMs - brokenMs < PERIOD_MS + DELAY_MS;
}

/** The ledger forgets its breakers when it is deleted or restored. */
export function isUnderCause(
  { fleet: { nowMs }, cause: { suspectedMs, knownMs }, lostMs }: SimulationRun,
  { version }: SimulatedMachine,
): boolean {
  const isKnown = suspectedMs <= knownMs && lostMs < knownMs && knownMs < nowMs;
  return version === NEW_VERSION && isKnown && nowMs - suspectedMs < LIMITS.cooldownSeconds * 1000;
}
