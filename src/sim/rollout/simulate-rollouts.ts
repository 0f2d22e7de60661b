/**
 * Simulates one run from one seed: the real controllers of machines and component sets and the real Defender roll versions out over a
 * simulated cluster, while people edit it, hosts fail, calls are lost and the process is killed. Then everything is calm, and what is left
 * is judged.
 */
import { MACHINES } from '../../api/generated/resources.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ApiChange } from '../api-server/objects.ts';
import { createSimulatedApi, type SimulatedApi } from '../api-server/simulated-api.ts';
import { createRandom, type Random } from '../random.ts';
import {
  type ControllerProcess,
  createControllerProcess,
  type RestartedProcess,
  stepProcess,
} from './controllers.ts';
import { putDefender } from './defender-objects.ts';
import type { RolloutEvent, RolloutViolation } from './history.ts';
import { type SimulatedHost, type SimulatedVersion, stepHost } from './hosts.ts';
import { judgeHistory } from './judge/judge.ts';
import {
  addMachine,
  approveRollouts,
  befallCluster,
  calmDown,
  createSets,
  interfere,
  type PeopleContext,
} from './people.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import type { Breakage } from './repairs/breakage.ts';
import type { RolloutBreakage } from './repairs/guard-breakage.ts';
import { stepJobs } from './repairs/job-agent.ts';
import { createRepairJudge, type RepairCounts } from './repairs/judge/repair-judge.ts';
import { befallRepairs, calmRepairs, createRules, lookAfterNodes, stepFaults } from './repairs/misfortune.ts';
import { createSimulatedPower, NO_SWITCHES } from './repairs/power.ts';
import type { RepairsContext } from './repairs/sick-machine.ts';

export interface RolloutSimulationOptions {
  readonly seed: number;
  /** The hours of faults, before everything is calm. */
  readonly hours: number;
  readonly machines: number;
  /** The options of a run in which faults appear, and the controllers of rules and jobs repair them under the same limit. */
  readonly repairs?: {
    readonly broken?: Breakage;
    /** Kernels die, and the power of their machines is switched. */
    readonly power?: boolean;
  };
  /** Whether sets have a partition and a spread. */
  readonly isLimited?: boolean;
  /** A guard of the planner that is taken out. */
  readonly broken?: RolloutBreakage;
}

export interface RolloutSimulationResult {
  readonly seed: number;
  readonly starts: number;
  readonly completed: number;
  readonly kills: number;
  readonly violations: readonly RolloutViolation[];
  readonly history: readonly RolloutEvent[];
  /** The counts of a run with repairs. */
  readonly repairs?: RepairCounts;
}

const START_MS = Date.parse('2030-01-01T00:00:00Z');
const STEP_MS = 5000;
const HOUR_MS = 3_600_000;
/** The time without a change, after the last fault, that ends a run. */
const QUIET_MS = 1_800_000;
const LONGEST_CALM_MS = 3 * HOUR_MS;

/** The number of machines that updates and repairs may take out of service together. */
const SHARED_LIMIT = 2;
/** The limits for each machine: as many as a run of some hours needs. */
const PER_MACHINE = { maxGrants: 12, maxReboots: 6, windowSeconds: 7200, minIntervalSeconds: 60 } as const;

interface ClusterRun extends PeopleContext, RestartedProcess {
  readonly repairs: RepairsContext | undefined;
  readonly broken: RolloutBreakage | undefined;
  readonly api: SimulatedApi;
  readonly recorder: Recorder;
  readonly random: Random;
  readonly clock: { nowMs: number; skewMs: number; skewUntilMs: number };
  isCalm: boolean;
  changedMs: number;
}

export async function simulateRollouts(options: RolloutSimulationOptions): Promise<RolloutSimulationResult> {
  const run = createClusterRun(options);
  for (let step = 0; step < (options.hours * HOUR_MS) / STEP_MS; step += 1) {
    befallCluster(run);
    if (run.repairs) befallRepairs(run.repairs);
    jumpClock(run);
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await stepCluster(run);
  }
  run.isCalm = true;
  Object.assign(run.clock, { skewMs: 0 });
  calmDown(run);
  if (run.repairs) calmRepairs(run.repairs);
  const calmMs = run.clock.nowMs;
  run.changedMs = calmMs;
  while (run.clock.nowMs - run.changedMs < QUIET_MS && run.clock.nowMs - calmMs < LONGEST_CALM_MS) {
    approveRollouts(run.api);
    if (run.repairs) lookAfterNodes(run.repairs);
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await stepCluster(run);
  }
  run.recorder.quiet();
  run.repairs?.judge.quiet();
  return resultOf(run, options);
}

function resultOf(
  { recorder: { history }, kills, repairs }: ClusterRun,
  { seed }: RolloutSimulationOptions,
): RolloutSimulationResult {
  return {
    seed,
    starts: history.filter((event) => event.what === 'Start' && event.kind === 'Update').length,
    completed: history.filter(({ what }) => what === 'Completed').length,
    kills,
    violations: [...judgeHistory(history), ...(repairs?.judge.violations ?? [])],
    history,
    ...optional('repairs', repairs?.judge.counts),
  };
}

function createClusterRun(options: RolloutSimulationOptions): ClusterRun {
  const { seed, machines, repairs: asked, broken, isLimited = false } = options;
  const random = createRandom(seed);
  const clock = { nowMs: START_MS, skewMs: 0, skewUntilMs: 0 };
  const hosts = new Map<string, SimulatedHost>();
  const versions = new Map<string, SimulatedVersion>();
  const nowMs = (): number => clock.nowMs;
  const changed = (change: ApiChange): void => {
    const kind = change.after?.kind ?? change.before?.kind;
    if (kind === MACHINES.kind || kind === NODES.kind) run.changedMs = clock.nowMs;
    recorder.written(change);
    repairs?.judge.written(change);
  };
  const api = createSimulatedApi({ nowMs, changed });
  const recorder = createRecorder({ api, nowMs, skewMs: () => clock.skewMs, hosts });
  const people: PeopleContext = { api, random, hosts, versions, nowMs, isLimited };
  const repairs = asked && createRepairs(people, asked);
  const run: ClusterRun = {
    ...people,
    repairs,
    broken,
    recorder,
    clock,
    isCalm: false,
    changedMs: START_MS,
    process: undefined,
    startsMs: START_MS,
    kills: 0,
  };
  // Half of the fleet may be in work: the sets have limits of their own. With repairs it is a number, which both share.
  putDefender(
    api,
    repairs ? { machines, max: SHARED_LIMIT, perMachine: PER_MACHINE } : { machines, max: '50%' },
  );
  if (repairs) createRules(repairs);
  createSets(run);
  for (let index = 0; index < machines; index += 1) addMachine(run);
  return run;
}

function createRepairs(
  people: PeopleContext,
  { broken, power }: NonNullable<RolloutSimulationOptions['repairs']>,
): RepairsContext {
  const { api, nowMs, hosts } = people;
  const judge = createRepairJudge({ api, nowMs, hosts, maxUnavailable: SHARED_LIMIT });
  const switches = power ? createSimulatedPower({ ...people, judge }) : undefined;
  return { ...people, judge, broken, power: switches, patients: new Map() };
}

async function stepCluster(run: ClusterRun): Promise<void> {
  const { clock, hosts, api, versions } = run;
  clock.nowMs += STEP_MS;
  const version = (ref: string): SimulatedVersion =>
    versions.get(ref) ?? { behaviorOn: () => 'Good', needsDrain: false };
  for (const host of hosts.values()) {
    if (api.get(MACHINES, host.name)?.metadata.uid !== host.uid) {
      hosts.delete(host.name);
      continue;
    }
    stepHost(host, { ...run, version });
    if (run.repairs) stepPatient(host, run.repairs);
  }
  run.repairs?.power?.step();
  run.recorder.observe();
  await stepProcess(run, startProcess);
}

function stepPatient(host: SimulatedHost, repairs: RepairsContext): void {
  stepFaults(host, repairs);
  stepJobs(host, repairs);
}

function startProcess(run: ClusterRun): ControllerProcess {
  const { api, random, clock, repairs } = run;
  return createControllerProcess({
    ...(repairs
      ? { repairs: { broken: repairs.broken, switches: repairs.power?.switches ?? NO_SWITCHES } }
      : {}),
    ...optional('broken', run.broken),
    api,
    random,
    nowMs: run.nowMs,
    skewMs: () => clock.skewMs,
    isCalm: () => run.isCalm,
    interfere: () => interfere(run),
  });
}

/** Makes the clock jump by some seconds, which the Defender tolerates, or by more. */
function jumpClock({ clock, random }: ClusterRun): void {
  if (clock.nowMs >= clock.skewUntilMs) clock.skewMs = 0;
  if (!random.chance(0.0007)) return;
  clock.skewMs = (random.chance(0.5) ? 1 : -1) * (2000 + random.below(60_000));
  clock.skewUntilMs = clock.nowMs + 60_000 + random.below(600_000);
}
