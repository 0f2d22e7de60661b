/**
 * Simulates one run from one seed: holders ask three replicas of the real ledger for grants, in a fleet where machines fail, answers are
 * missing and ledgers are restored. Each act that begins is judged by the fleet as it really is.
 */
import { planRecovery } from '../defender/ledger/recover.ts';
import { endActs, expireGrants } from './ends.ts';
import { befall, isOn } from './fleet.ts';
import { decideAsks } from './grants.ts';
import {
  type BegunAct,
  createRun,
  liveGrant,
  observeMachine,
  type SimulationOptions,
  type SimulationRun,
  type Violation,
} from './run.ts';
import { playMinute } from './scenario.ts';
import { watchStorms } from './storms.ts';

export interface SimulationResult {
  readonly seed: number;
  readonly acts: number;
  readonly denials: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  readonly journal: readonly BegunAct[];
  /** The names of the machines that are not Ready at the end. */
  readonly notReady: readonly string[];
}

const STEP_MS = 60_000;
/** The number of steps between sweeps: ten minutes. */
const SWEEP_STEPS = 10;
const DAY_MS = 86_400_000;

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const run = createRun(options);
  const { fleet, random, dirty } = run;
  const { scenario } = options;
  for (let step = 0; step < (options.days * DAY_MS) / STEP_MS; step += 1) {
    fleet.nowMs += STEP_MS;
    observe(run);
    const changed = scenario ? playMinute(fleet, scenario, step) : befall(fleet, random, STEP_MS);
    for (const machine of changed) dirty.add(machine);
    if (!scenario) damageLedger(run);
    // oxlint-disable no-await-in-loop -- one step after the other
    await endActs(run);
    await decideAsks(run, scenario);
    if (step % SWEEP_STEPS === 0) await expireGrants(run);
    // oxlint-enable no-await-in-loop
    watchStorms(run);
  }
  const { acts, denials, violations, journal } = run;
  const notReady = fleet.machines.filter(({ isReady }) => !isReady).map(({ name }) => name);
  return { seed: options.seed, acts, denials, violations, journal, notReady };
}

/** Makes what changed in the last step visible, unless the view is cut off. */
function observe(run: SimulationRun): void {
  if (isOn(run.fleet, 'viewCut')) return;
  for (const machine of run.dirty) observeMachine(run, machine);
  run.dirty.clear();
  run.observedMs = run.fleet.nowMs;
}

/** Damages the ledger: it has four backups a day, and about once in two days it is deleted or restored. */
function damageLedger(run: SimulationRun): void {
  const { fleet, ledger, random } = run;
  if (random.chance(STEP_MS / (DAY_MS / 4))) ledger.backup();
  if (!random.chance(STEP_MS / (2 * DAY_MS))) return;
  if (random.chance(0.5)) ledger.restore();
  else ledger.delete();
  run.lostMs = fleet.nowMs;
  const recovery = planRecovery(ledger.spec(), [...fleet.acting].flatMap(liveGrant), new Date(fleet.nowMs));
  // A backup that misses no act in work is not recognized, and need not be.
  if (recovery) run.recoversMs = fleet.nowMs;
}
