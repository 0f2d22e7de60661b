/**
 * Storms as they really were: from the moment when the breaker of a zone is open, acts in that zone are counted. After it closed,
 * they must begin one by one. What the ledger counts is not read.
 */
import type { DefenderLedgerSpec } from '../api/generated/types.ts';
import type { SimulatedMachine } from './fleet.ts';
import { STORM_BREAKER } from './policies.ts';
import type { SimulationRun } from './run.ts';

const DAY_MS = 86_400_000;

/** At the end of a step. */
export function watchStorms({ fleet, ledger, storms, lostMs }: SimulationRun): void {
  const { nowMs } = fleet;
  for (const [zone, { sinceMs }] of storms) {
    if (lostMs >= sinceMs || nowMs - sinceMs >= DAY_MS) storms.delete(zone);
  }
  for (const zone of openZones(ledger.spec()?.breakers)) storms.set(zone, { sinceMs: nowMs, verified: 0 });
}

function openZones(breakers: DefenderLedgerSpec['breakers'] = {}): readonly string[] {
  return Object.entries(breakers).flatMap(([id, { state }]) => {
    const [, breaker, zone = ''] = id.split('/');
    return breaker === STORM_BREAKER && state !== 'HalfOpen' ? zone : [];
  });
}

/** A failed act begins the count again: less is allowed than this counts. */
export function countVerified(
  { storms }: SimulationRun,
  machine: SimulatedMachine,
  hasFailed: boolean,
): void {
  const storm = storms.get(machine.zone);
  if (storm && !hasFailed) storm.verified += 1;
}

/** How many acts may be in work in the zone of the machine, this one included. */
export function allowanceAfterStorm({ storms }: SimulationRun, machine: SimulatedMachine): number {
  const storm = storms.get(machine.zone);
  return storm ? 2 ** Math.max(0, storm.verified - 1) : Number.POSITIVE_INFINITY;
}
