/**
 * Simulates clusters under one hub: each decides with the real ledger, the hub hands out allowances with the real planner, and links,
 * processes and answers fail. Each act that begins is judged by what all clusters really do.
 */
import { type Denial, type GrantAsk, grantFromEntry } from '../../api/grants.ts';
import { createRandom, type Random } from '../random.ts';
import type { Violation } from '../run.ts';
import { type ClusterOfFleet, createClusterOfFleet, type FleetTask, reportAllowance } from './cluster.ts';
import { createSimulatedHub, type SimulatedHub } from './hub.ts';
import { createFleetJudge, type FleetJudge } from './judge.ts';

export interface FleetSimulationOptions {
  readonly seed: number;
  readonly clusters: number;
  readonly hours: number;
  /** Ids of guards that are taken out. */
  readonly without?: ReadonlySet<string>;
}

export interface FleetSimulationResult {
  readonly seed: number;
  readonly acts: number;
  readonly actsUnderFloor: number;
  /** The longest time for which an act waited while the hub and all links worked. */
  readonly longestWaitSeconds: number;
  readonly violations: readonly Violation[];
}

export interface FleetRun {
  readonly clusters: readonly ClusterOfFleet[];
  readonly hub: SimulatedHub;
  readonly random: Random;
  readonly judge: FleetJudge;
  nowMs: number;
}

const START_MS = Date.parse('2030-01-07T00:00:00Z');
const STEP_MS = 20_000;
const HOUR_MS = 3_600_000;
const REGIONS = 5;
const VERSION_MS = 6 * HOUR_MS;

export async function simulateFleetLimits(options: FleetSimulationOptions): Promise<FleetSimulationResult> {
  const run = createFleetRun(options);
  const steps = (options.hours * HOUR_MS) / STEP_MS;
  for (let step = 0; step < steps; step += 1) {
    run.nowMs += STEP_MS;
    befall(run);
    // oxlint-disable no-await-in-loop -- one step after the other
    await run.hub.reconcile();
    for (const cluster of run.clusters) await live(run, cluster);
    // oxlint-enable no-await-in-loop
    run.judge.watch(run);
  }
  const { acts, actsUnderFloor, longestWaitSeconds, violations } = run.judge;
  return { seed: options.seed, acts, actsUnderFloor, longestWaitSeconds, violations };
}

function createFleetRun({ seed, clusters: count, without }: FleetSimulationOptions): FleetRun {
  const random = createRandom(seed);
  const time = { nowMs: START_MS };
  const nowMs = (): number => time.nowMs;
  const clusters = Array.from({ length: count }, (_, index) =>
    createClusterOfFleet({
      name: `c${String(index + 1).padStart(2, '0')}`,
      region: `r${(index % REGIONS) + 1}`,
      random,
      nowMs,
      ...(without ? { without } : {}),
    }),
  );
  const hub = createSimulatedHub({ clusters, random, nowMs });
  return Object.assign(time, { clusters, hub, random, judge: createFleetJudge() });
}

/** About as often as in a bad month, in a day. */
function befall(run: FleetRun): void {
  const { clusters, hub, random } = run;
  const hourly = (times: number): boolean => random.chance((times * STEP_MS) / HOUR_MS);
  if (hourly(0.2)) hub.crash(random.below(random.chance(0.3) ? 40 : 3) * 60_000);
  if (hourly(0.2)) hub.sleep(20_000 + random.below(120_000));
  if (hourly(0.1)) hub.restore();
  if (hourly(hub.isStopped ? 3 : 0.1)) hub.isStopped = !hub.isStopped;
  for (const cluster of clusters) befallCluster(run, cluster, hourly);
}

function befallCluster(run: FleetRun, cluster: ClusterOfFleet, hourly: (times: number) => boolean): void {
  const { random, nowMs, judge } = run;
  const { cutSinceMs } = cluster;
  const isChanged = hourly(cutSinceMs === undefined ? 0.1 : 1.5);
  if (isChanged) cluster.cutSinceMs = cutSinceMs === undefined ? nowMs : undefined;
  if (hourly(0.05)) {
    cluster.ledger.delete();
    judge.ledgerLost(run, cluster.name);
  }
  if (hourly(0.5)) cluster.staleUntilMs = nowMs + random.below(600_000);
}

async function live(run: FleetRun, cluster: ClusterOfFleet): Promise<void> {
  const { random, nowMs } = run;
  if (nowMs >= cluster.staleUntilMs) observe(random, cluster);
  await endActs(run, cluster);
  drawTasks(random, cluster, nowMs);
  for (const task of cluster.tasks.values()) {
    // oxlint-disable-next-line no-await-in-loop -- asks have an order
    if (random.chance(0.5)) await ask(run, cluster, task);
  }
  const [first] = cluster.replicas;
  await first?.run([{ kind: 'sweep' }]);
  if (random.chance(0.8)) reportAllowance(cluster, nowMs);
}

/** Each replica has a watch of its own, which is often late. */
function observe(random: Random, cluster: ClusterOfFleet): void {
  for (const replica of cluster.observed.keys()) {
    if (random.chance(0.3)) cluster.observed[replica] = cluster.allowance;
  }
}

async function endActs({ nowMs }: FleetRun, cluster: ClusterOfFleet): Promise<void> {
  for (const [machine, { endsMs, grant, ask: asked }] of cluster.acts) {
    const { id, fence } = grant;
    const [first] = cluster.replicas;
    if (!first) continue;
    // oxlint-disable no-await-in-loop -- settlements have an order
    if (endsMs > nowMs) {
      const { holder } = asked;
      await first.run([{ kind: 'renew', renewal: { id, fence, holder } }]);
      continue;
    }
    const failed = (asked.brings ?? []).filter(isBad);
    for (const version of failed) cluster.failedAtMs.set(version, nowMs);
    const outcome = failed.length > 0 ? 'Failed' : 'Succeeded';
    const answers = await first.run([{ kind: 'settle', settlement: { id, fence, outcome } }]);
    // oxlint-enable no-await-in-loop
    if (!('granted' in answers)) cluster.acts.delete(machine);
  }
}

/** Every few hours git has another version, and every third one is bad. */
function versionAt(nowMs: number): string {
  return `kubelet-1.${Math.floor(nowMs / VERSION_MS)}`;
}

function isBad(version: string): boolean {
  return Number(version.split('.')[1]) % 3 === 0;
}

/** Now and then a repair, and a rollout to all machines. */
function drawTasks(random: Random, cluster: ClusterOfFleet, nowMs: number): void {
  const one = random.pick(cluster.machines) ?? '';
  if (random.chance(0.0015)) addTask(cluster, { machine: one, action: 'Reboot', sinceMs: nowMs });
  if (!random.chance(0.0004)) return;
  const version = versionAt(nowMs);
  for (const machine of cluster.machines) {
    addTask(cluster, { machine, action: 'UpdateComponent', sinceMs: nowMs, version });
  }
}

function addTask({ tasks, acts }: ClusterOfFleet, task: FleetTask): void {
  if (!tasks.has(task.machine) && !acts.has(task.machine)) tasks.set(task.machine, task);
}

async function ask(run: FleetRun, cluster: ClusterOfFleet, task: FleetTask): Promise<void> {
  const { random, nowMs, judge } = run;
  const replica = random.pick(cluster.replicas);
  if (!replica || cluster.acts.has(task.machine)) return;
  const request = { kind: 'ask', ask: askOf(task, nowMs) } as const;
  const answers = await replica.run([request]);
  if ('granted' in answers) return;
  const [answer] = answers;
  if (!answer) return;
  cluster.requests.heard({ request, answer });
  if (answer.kind === 'denial') hearDenial(run, cluster, { task, denial: answer.denial });
  if (answer.kind !== 'entry') return;
  cluster.tasks.delete(task.machine);
  const endsMs = nowMs + 60_000 + random.below(10) * 60_000;
  const grant = grantFromEntry(task.machine, answer.entry);
  judge.begun(run, cluster, { ask: request.ask, grant, beganMs: nowMs, endsMs });
}

interface DeniedTask {
  readonly task: FleetTask;
  readonly denial: Denial;
}

/** Git goes back from a version that is held. */
function hearDenial(run: FleetRun, cluster: ClusterOfFleet, { task, denial }: DeniedTask): void {
  run.judge.denied(run, cluster, denial);
  if (denial.reason === 'FleetCause') cluster.tasks.delete(task.machine);
}

function askOf({ machine, action, version }: FleetTask, nowMs: number): GrantAsk {
  const common = { machine, nodeUID: `uid-${machine}`, factsAt: new Date(nowMs), expectedSeconds: 600 };
  const brings = version === undefined ? {} : { brings: [version] };
  const holder = { kind: 'MachineComponentSet', name: 'base', revision: 'r-1' } as const;
  return { ...common, holder, action, risk: 'Node', started: true, ...brings };
}
