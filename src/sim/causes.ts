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

/** After a review. */
export function watchCause(run: SimulationRun): void {
  const { fleet } = run;
  if (CONFUSING.some((hazard) => isOn(fleet, hazard))) return;
  const failed = fleet.machines.filter((machine) => isFailed(machine, fleet.nowMs));
  const isMixed = failed.some(({ version }) => version !== NEW_VERSION);
  const settled = failed.filter(({ brokenMs }) => fleet.nowMs - brokenMs < PERIOD_MS - DELAY_MS);
  if (!isMixed && settled.length >= CLEARLY) run.causeMs = fleet.nowMs;
}

function isFailed({ brokenMs, act }: SimulatedMachine, nowMs: number): boolean {
  return brokenMs > 0 && act === undefined && nowMs - brokenMs < PERIOD_MS + DELAY_MS;
}

/** The ledger forgets its breakers when it is deleted or restored. */
export function isUnderCause(
  { fleet, causeMs, lostMs }: SimulationRun,
  { version }: SimulatedMachine,
): boolean {
  const sinceMs = fleet.nowMs - causeMs;
  return (
    version === NEW_VERSION && lostMs < causeMs && sinceMs > 0 && sinceMs < LIMITS.cooldownSeconds * 1000
  );
}
