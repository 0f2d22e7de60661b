/** A fault of the library, instead of what happens by chance: when it begins and what it takes down. */
import { type Hazard, type SimulatedFleet, type SimulatedMachine, zoneAndSilence } from './fleet.ts';

export interface Scenario {
  readonly hazards?: readonly ScheduledHazard[];
  readonly failures?: readonly ScheduledFailure[];
  /** Whether a component set asks as well, and not only for repairs. */
  readonly rollouts?: boolean;
}

export interface ScheduledHazard {
  readonly hazard: Hazard;
  /** Since the start of the run. */
  readonly fromMinute: number;
  readonly minutes: number;
}

export interface ScheduledFailure {
  readonly machine: string;
  readonly minute: number;
}

const MINUTE_MS = 60_000;

/** One minute of it. Returns the machines that changed. */
export function playMinute(
  fleet: SimulatedFleet,
  { hazards = [], failures = [] }: Scenario,
  minute: number,
): ReadonlySet<SimulatedMachine> {
  const { nowMs } = fleet;
  for (const { hazard, minutes } of hazards.filter(({ fromMinute }) => fromMinute === minute)) {
    fleet.hazards.set(hazard, { sinceMs: nowMs, untilMs: nowMs + minutes * MINUTE_MS });
  }
  const names = failures.filter((failure) => failure.minute === minute).map(({ machine }) => machine);
  const failed = names.flatMap((name) => fleet.byName.get(name) ?? []);
  for (const machine of failed) Object.assign(machine, { isReady: false, changedMs: nowMs });
  const changed = new Set(failed);
  zoneAndSilence(fleet, changed);
  return changed;
}
