import { describe, expect, it } from 'vitest';
import { isUnderCause, watchCause } from '../../src/sim/causes.ts';
import { NEW_VERSION, type SimulatedMachine } from '../../src/sim/fleet.ts';
import { createRun, type SimulationRun } from '../../src/sim/run.ts';

function runWith(count: number, version = NEW_VERSION): SimulationRun {
  const run = createRun({ seed: 1, days: 1, machines: 60 });
  const failed = run.fleet.machines.filter((machine) => machine.version === version).slice(0, count);
  for (const machine of failed) Object.assign(machine, { isReady: false, brokenMs: run.fleet.nowMs });
  run.fleet.nowMs += 60_000;
  return run;
}

function machineOf({ fleet }: SimulationRun, isNew: boolean): SimulatedMachine {
  const found = fleet.machines.find(({ version }) => (version === NEW_VERSION) === isNew);
  if (!found) throw new Error('the fleet has machines of both versions');
  return found;
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
    watchCause(run);
    run.fleet.nowMs += 60_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(isKnown);
    expect(isUnderCause(run, machineOf(run, false))).toBe(false);
  });

  it('knows nothing with fewer machines, nor after the ledger was lost, nor after the cooldown', () => {
    const few = runWith(7);
    watchCause(few);
    expect(few.causeMs).toBe(Number.NEGATIVE_INFINITY);
    const run = runWith(8);
    watchCause(run);
    run.fleet.nowMs += 1_800_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
    run.fleet.nowMs -= 60_000;
    expect(isUnderCause(run, machineOf(run, true))).toBe(true);
    run.lostMs = run.fleet.nowMs;
    expect(isUnderCause(run, machineOf(run, true))).toBe(false);
  });
});

function cut({ fleet }: SimulationRun): void {
  fleet.hazards.set('viewCut', { sinceMs: fleet.nowMs, untilMs: fleet.nowMs + 60_000 });
}

function mix(run: SimulationRun): void {
  machineOf(run, false).brokenMs = run.fleet.nowMs - 60_000;
}
