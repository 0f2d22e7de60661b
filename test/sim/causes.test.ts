import { describe, expect, it } from 'vitest';
import { isUnderCause, suspectCause, watchCause } from '../../src/sim/causes.ts';
import { NEW_VERSION, type SimulatedMachine } from '../../src/sim/fleet.ts';
import { createRun, type SimulationRun } from '../../src/sim/run.ts';

function runWith(count: number): SimulationRun {
  const run = createRun({ seed: 1, days: 1, machines: 60 });
  fail(run, count);
  run.fleet.nowMs += 60_000;
  return run;
}

function machineOf({ fleet }: SimulationRun, isNew: boolean): SimulatedMachine {
  const found = fleet.machines.find(({ version }) => (version === NEW_VERSION) === isNew);
  if (!found) throw new Error('the fleet has machines of both versions');
  return found;
}

/** As a sweep does. */
function review(run: SimulationRun): void {
  suspectCause(run);
  watchCause(run);
}

describe('watchCause', () => {
  it.each<[string, (run: SimulationRun) => void, boolean]>([
    ['clear', () => undefined, true],
    ['in doubt while the view is cut', (run) => cut(run), false],
    ['long ago', (run) => (run.fleet.nowMs += 1_600_000), false],
    ['mixed with another version', (run) => mix(run), false],
  ])('knows that a version is bad when it is %s: %s', (_, change, isKnown) => {
    const run = runWith(8);
    change(run);
    review(run);
    run.fleet.nowMs += 60_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(isKnown);
    expect(isUnderCause(run, machineOf(run, false))).toBe(false);
  });

  it('knows nothing with fewer machines, nor after the ledger was lost, nor after the cooldown', () => {
    const few = runWith(7);
    review(few);
    expect(few.cause.knownMs).toBe(Number.NEGATIVE_INFINITY);
    const run = runWith(8);
    review(run);
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
    run.fleet.nowMs += 1_800_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
    run.fleet.nowMs -= 60_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(true);
    run.lostMs = run.fleet.nowMs;
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
  });

  it('counts the cooldown from the first review that may have opened the breaker, until it was closed for long', () => {
    const run = runWith(3);
    suspectCause(run);
    const openMs = run.fleet.nowMs;
    for (const laterMs of [600_000, 14_400_000]) {
      run.fleet.nowMs += laterMs;
      fail(run, 8);
      review(run);
      expect([run.cause.suspectedMs, run.cause.knownMs]).toEqual([openMs, run.fleet.nowMs]);
    }
    run.fleet.nowMs += 14_400_001;
    suspectCause(run);
    expect(run.cause.suspectedMs).toBe(openMs);
    fail(run, 2);
    suspectCause(run);
    expect(run.cause.suspectedMs).toBe(openMs);
    fail(run, 3);
    suspectCause(run);
    expect(run.cause.suspectedMs).toBe(run.fleet.nowMs);
    run.fleet.nowMs += 60_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
  });
});

/** Just now. */
function fail({ fleet }: SimulationRun, count: number): void {
  const failed = fleet.machines.filter(({ version }) => version === NEW_VERSION).slice(0, count);
  for (const machine of failed) Object.assign(machine, { isReady: false, brokenMs: fleet.nowMs });
}

function cut({ fleet }: SimulationRun): void {
  fleet.hazards.set('viewCut', { sinceMs: fleet.nowMs, untilMs: fleet.nowMs + 60_000 });
}

function mix(run: SimulationRun): void {
  machineOf(run, false).brokenMs = run.fleet.nowMs - 60_000;
}
