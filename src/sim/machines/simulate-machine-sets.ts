/**
 * Simulates one run from one seed: the real controllers of Machines and MachineSets and the real Defender keep a set of machines at a
 * provider that is slow and fails, while people scale, edit, hold and delete, views are late, and the process is killed. Then everything is
 * calm, and what is left is judged.
 */
import { MACHINES } from '../../api/generated/resources.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { ApiChange } from '../api-server/objects.ts';
import { createSimulatedApi } from '../api-server/simulated-api.ts';
import { createRandom } from '../random.ts';
import { type ControllerProcess, type RestartedProcess, stepProcess } from '../rollout/controllers.ts';
import { putDefender } from '../rollout/defender-objects.ts';
import type { FaultRates } from '../rollout/faulty-client.ts';
import type { RolloutViolation } from '../rollout/history.ts';
import type { SimulatedHost } from '../rollout/hosts.ts';
import type { SetBreakage } from './breakage.ts';
import { createSimulatedCloud } from './cloud.ts';
import { stepInstances } from './instance-hosts.ts';
import { createSetJudge, type SetJudge } from './judge/set-judge.ts';
import { createMachineProcess } from './machine-process.ts';
import {
  befallSet,
  calmSet,
  createSet,
  holdBeforeDeletion,
  interfereWithSet,
  replaceLost,
  type SetPeople,
} from './set-people.ts';
import { stepRepairs } from './set-repairs.ts';

export interface MachineSetSimulationOptions {
  readonly seed: number;
  /** The hours of faults, before everything is calm. */
  readonly hours: number;
  /** The most machines that people ask for. */
  readonly machines: number;
  readonly broken?: SetBreakage;
  /** Whether the set replaces machines that differ from its template. */
  readonly isReplacing?: boolean;
  /** Whether repair jobs mark machines to be replaced, and their instances to be kept. */
  readonly isRepairing?: boolean;
  /** Whether answers are lost, watches are late, and people edit in the middle of a reconcile, much more often; they hold what it deletes. */
  readonly frequentFaults?: boolean;
}

export interface MachineSetSimulationResult {
  readonly seed: number;
  readonly kills: number;
  readonly violations: readonly RolloutViolation[];
  /** The list of what was created and deleted, in order. */
  readonly history: readonly string[];
}

interface SetRun extends SetPeople, RestartedProcess {
  readonly judge: SetJudge;
  readonly broken: SetBreakage | undefined;
  readonly frequentFaults: boolean;
  readonly isRepairing: boolean;
  readonly clock: { nowMs: number; changedMs: number };
  readonly watch: { delayMs: number; untilMs: number };
  isCalm: boolean;
}

const START_MS = Date.parse('2030-01-01T00:00:00Z');
const STEP_MS = 5000;
const HOUR_MS = 3_600_000;
/** The time without a change, after the last fault, that ends a run: longer than a storm needs to thaw. */
const QUIET_MS = 900_000;
const LONGEST_CALM_MS = 4 * HOUR_MS;
const LONGEST_DELAY_S = 30;
/** The chance in each step that watches become late. */
const LATE = { seldom: 0.01, often: 0.05 } as const;
/** Controllers of a set write a fifth as often as those of a rollout, so each of their writes is more likely to be the last. */
const FAULTS: FaultRates = { lost: 0.02, interference: 0.004, killed: 0.02 };
const FREQUENT_FAULTS: FaultRates = { lost: 0.15, interference: 0.1, killed: 0.02 };

export async function simulateMachineSets(
  options: MachineSetSimulationOptions,
): Promise<MachineSetSimulationResult> {
  const run = createSetRun(options);
  const { clock, judge, random } = run;
  for (let step = 0; step < (options.hours * HOUR_MS) / STEP_MS; step += 1) {
    befallSet(run);
    delayWatches(run);
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await stepRun(run);
  }
  const replicas = 1 + random.below(options.machines);
  run.isCalm = true;
  calmSet(run, replicas);
  Object.assign(run.watch, { delayMs: 0 });
  const calmMs = clock.nowMs;
  clock.changedMs = calmMs;
  while (clock.nowMs - clock.changedMs < QUIET_MS && clock.nowMs - calmMs < LONGEST_CALM_MS) {
    replaceLost(run);
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await stepRun(run);
  }
  judge.quiet(replicas);
  const { kills } = run;
  return { seed: options.seed, kills, violations: judge.violations, history: judge.history };
}

function createSetRun(options: MachineSetSimulationOptions): SetRun {
  const {
    seed,
    machines,
    broken,
    frequentFaults = false,
    isReplacing = false,
    isRepairing = false,
  } = options;
  const random = createRandom(seed);
  const clock = { nowMs: START_MS, changedMs: START_MS };
  const nowMs = (): number => clock.nowMs;
  const hosts = new Map<string, SimulatedHost>();
  const changed = (change: ApiChange): void => {
    const kind = change.after?.kind ?? change.before?.kind;
    if (kind === MACHINES.kind || kind === NODES.kind) clock.changedMs = clock.nowMs;
    judge.written(change);
  };
  const api = createSimulatedApi({ nowMs, changed });
  const cloud = createSimulatedCloud({
    nowMs,
    random,
    isCalm: () => run.isCalm,
    created: (instance) => judge.created(instance),
    deleting: (instance) => judge.deleting(instance),
  });
  const judge = createSetJudge({ api, cloud, hosts, nowMs });
  const run: SetRun = {
    api,
    random,
    nowMs,
    cloud,
    hosts,
    machines,
    judge,
    broken,
    frequentFaults,
    isRepairing,
    isReplacing,
    clock,
    asPerson: (act) => judge.asPerson(act),
    watch: { delayMs: 0, untilMs: START_MS },
    isCalm: false,
    process: undefined,
    startsMs: START_MS,
    kills: 0,
  };
  putDefender(api, { machines, max: '50%' });
  createSet(run);
  return run;
}

async function stepRun(run: SetRun): Promise<void> {
  const { clock, judge } = run;
  clock.nowMs += STEP_MS;
  stepInstances(run);
  if (run.isRepairing) stepRepairs(run, run.isCalm);
  judge.observe();
  await stepProcess(run, startProcess);
}

function startProcess(run: SetRun): ControllerProcess {
  const { api, random, nowMs, cloud, judge, watch, broken, frequentFaults } = run;
  return createMachineProcess({
    api,
    random,
    nowMs,
    cloud,
    broken,
    rates: frequentFaults ? FREQUENT_FAULTS : FAULTS,
    isCalm: () => run.isCalm,
    interfere: (deleted) => {
      if (frequentFaults && deleted !== undefined) holdBeforeDeletion(run, deleted);
      else interfereWithSet(run);
    },
    delayMs: () => watch.delayMs,
    unsearched: (machine) => judge.unsearched(machine),
  });
}

/** Makes every event late for some minutes. */
function delayWatches({ watch, clock, random, frequentFaults }: SetRun): void {
  if (clock.nowMs >= watch.untilMs) watch.delayMs = 0;
  if (!random.chance(frequentFaults ? LATE.often : LATE.seldom)) return;
  watch.delayMs = random.below(LONGEST_DELAY_S + 1) * 1000;
  watch.untilMs = clock.nowMs + random.below(10) * 60_000;
}
