/** Rollouts of component sets: the time that the controller adds to each batch, a pause, heartbeats, and a full reconcile. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS } from '../src/api/generated/resources.ts';
import { install, installation } from '../src/api/install/install.ts';
import { MANAGER_SYNC, PRINCIPAL_CONTROLLERS, PRINCIPAL_SYNC, serviceAccountUser } from '../src/api/names.ts';
import { connect } from '../src/kube/client/connect.ts';
import { runConcurrently } from '../src/kube/process/run-concurrently.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import type { InstalledServer } from '../test/cluster/api/installed-server.ts';
import {
  ACCOUNTS,
  applyFleetDefault,
  createMachineWithNode,
  readLedger,
  readPolicy,
} from '../test/cluster/defender/objects.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../test/support/control-plane-server.ts';
import { type Bench, type BenchResult, KUBENODE_FLAGS, percentile } from './bench.ts';
import { measureBareWrite, WRITES_OF_END } from './rollout/bare-writes.ts';
import { type BatchOverhead, type BetweenBatches, batchOverhead } from './rollout/batch-overhead.ts';
import { type BatchTimes, type BenchFleet, runAgents, UPDATE_SECONDS } from './rollout/fleet.ts';
import { type HeartbeatLoad, measureHeartbeats } from './rollout/heartbeats.ts';
import { showProgress } from './rollout/progress.ts';
import { measureReconcile, type ReconcileLoad } from './rollout/reconcile-load.ts';
import { loadBetween, readServerLoad, type ServerLoad } from './rollout/server-load.ts';
import {
  countWrites,
  type LoggedWrite,
  openWriteLog,
  type WriteLog,
  writeTable,
} from './rollout/write-log.ts';

const MACHINES = Number(env['KUBENODE_BENCH_MACHINES'] ?? 1000);
const LOG_LEVEL = env['KUBENODE_BENCH_LOG_LEVEL'] ?? 'warn';
const FULL = 10_000;
const IDLE_MS = 60_000;
const WITHIN_MS = 1_800_000;
const PORT = 18_471;
/** Longer than a report waits for a later one: what the update of the last machines causes is counted, too. */
const REPORTS_MS = 15_000;
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'most', per: 'Cluster', risks: ['Pod', 'Node'], max: 10_000 }],
  counting: { lingerSeconds: 0 },
  zones: { haltPercent: 100, minNodes: 100 },
};
const LARGEST_BATCH = 100;
const ROLLOUT = { batches: [1, 5, 10, 50, LARGEST_BATCH], maxUnavailable: '100%', gate: { soakSeconds: 0 } };

export const bench: Bench = {
  name: 'rollout',
  what: 'kubenode controllers with simulated agents on a real API server, in batches without a soak; a full reconcile of 10,000 machines with 5 components in memory',
  needsKubenodeFlags: true,
  run,
};

async function run(): Promise<BenchResult> {
  const inMemory = { ...measureReconcile(FULL), ...measureHeartbeats(FULL) };
  const shared = await openRun();
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-rollout-'));
  const log = await openWriteLog(folder);
  const server = await startServer(shared, { flags: log.flags });
  try {
    const rollout = await measureRollout(server, log);
    return resultOf(inMemory, rollout);
  } finally {
    await server.stop();
    await log.close();
    await rm(folder, { recursive: true });
    await closeRun(shared);
  }
}

/** What the server was asked for is that of one version, for each machine. */
interface RolloutTimes extends ServerLoad, Omit<BatchOverhead, 'between'> {
  /** Of one bare write of the status of a Machine, after the controllers have ended. */
  readonly bareWriteMs: number;
  readonly pauseMs: number;
  /** Of one report of an agent, as sent by the process of the load: how busy the API server was. */
  readonly reportP50Ms: number;
  readonly heartbeats: number;
  readonly reconcilesWhileIdle: number;
}

async function measureRollout(server: ApiServer, log: WriteLog): Promise<RolloutTimes> {
  const client = server.client;
  const results = await install(client, { clock: createSystemClock(), objects: installation() });
  const errors = results.flatMap(({ error }) => error ?? []);
  if (errors.length > 0) throw new AggregateError(errors, 'the installation failed');
  const names = Array.from({ length: MACHINES }, (_, index) => `m-${index}`);
  stderr.write(`  ${MACHINES} machines are created\n`);
  await runConcurrently(names, (name) => createMachineWithNode(client, name));
  const as: InstalledServer['as'] = async (user, groups = []) =>
    connect({ kubeconfig: await server.kubeconfigFor({ user, groups }) });
  await applyFleetDefault({ server, as } as unknown as InstalledServer, POLICY);
  const sync = await as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
  const controllers = startControllers(await server.kubeconfigFor({ user, groups: ACCOUNTS }));
  const until: Until = async (holds) => untilOf(holds, controllers);
  const writes: number[] = [];
  const agents = await connect({
    kubeconfig: server.kubeconfig,
    onCall: ({ verb, seconds }) => void (verb === 'apply' && writes.push(seconds * 1000)),
  });
  const beats = await connect({ kubeconfig: server.kubeconfig });
  const fleet = await runAgents({ client: agents, beats }, names);
  const progress = showProgress(() => fleet.summary());
  const declare = async (version: string, more: object = {}): Promise<void> => {
    progress.begin(`version ${version}${'paused' in more ? ', paused' : ''}`);
    await declareSet(sync, version, more);
  };
  try {
    progress.begin('the Defender starts');
    await until(async () => (await readPolicy(client)).status?.phase === 'InForce');
    await until(async () => (await readLedger(client)).status?.phase === 'Ready');
    await declare('1');
    await until(async () => fleet.running('app-1') === MACHINES);
    await pause(REPORTS_MS);
    await log.next();
    const before = await readServerLoad(server);
    await declare('2');
    await until(async () => fleet.running('app-2') === MACHINES);
    const load = loadBetween(before, await readServerLoad(server), MACHINES);
    await pause(REPORTS_MS);
    const ofUpdate = await log.next();
    showWrites(ofUpdate);
    progress.begin('heartbeats alone');
    const idle = await measureIdle(fleet);
    await declare('3');
    await until(async () => fleet.running('app-3') >= Math.min(70, MACHINES / 2));
    const pauseMs = await measurePause(fleet, () => declare('3', { paused: true }));
    const reportP50Ms = percentile(writes, 0.5);
    await ended(controllers);
    const bareWriteMs = await measureBareWrite(agents, names.slice(0, LARGEST_BATCH));
    const { between, ...times } = batchOverhead(batchesOf(fleet, 'app-2'), WRITES_OF_END * bareWriteMs);
    showBetween(between);
    return {
      ...times,
      ...idle,
      ...load,
      writes: ofUpdate.length / MACHINES,
      bareWriteMs,
      pauseMs,
      reportP50Ms,
    };
  } finally {
    progress.stop();
    await fleet.stop();
    await Promise.all([sync.close(), agents.close(), beats.close()]);
    await ended(controllers);
  }
}

async function declareSet(
  sync: Awaited<ReturnType<InstalledServer['as']>>,
  version: string,
  more: object,
): Promise<void> {
  const apiVersion = 'kubenode.dev/v1alpha1';
  const name = `app-${version}`;
  const files = [{ path: '/etc/app/app.conf', content: version, onChange: 'Restart' }];
  const units = [{ name: 'app', type: 'Service', exec: { argv: ['/bin/sleep', '1000'] } }];
  const component = { component: 'app', version, files, units };
  const options = { fieldManager: MANAGER_SYNC };
  await sync.apply(
    MACHINE_COMPONENTS,
    { apiVersion, kind: 'MachineComponent', metadata: { name }, spec: component },
    options,
  );
  const components = [{ name: 'app', componentRef: name }];
  const spec = { machineSelector: { all: true }, components, rollout: ROLLOUT, ...more };
  const set = { apiVersion, kind: 'MachineComponentSet', metadata: { name: 'general' }, spec };
  await sync.apply(MACHINE_COMPONENT_SETS, set, options);
}

function startControllers(kubeconfig: string): ChildProcess {
  const args = ['src/cli/main.ts', 'controllers', '--kubeconfig', kubeconfig, '--log-level', LOG_LEVEL];
  const port = ['--port', String(PORT)];
  return spawn(process.execPath, [...KUBENODE_FLAGS, ...args, ...port], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function showWrites(writes: readonly LoggedWrite[]): void {
  stderr.write(`  writes for each machine:\n${writeTable(countWrites(writes, MACHINES))}`);
}

function showBetween(between: readonly BetweenBatches[]): void {
  const lines = between.map(
    ({ machines, ms, overheadMs }) =>
      `  after ${machines} machines: ${Math.round(ms)} ms, beyond the bare writes ${Math.round(overheadMs)} ms\n`,
  );
  stderr.write(lines.join(''));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function batchesOf({ batches }: BenchFleet, componentRef: string): readonly BatchTimes[] {
  return [...batches].filter(([key]) => key.startsWith(`${componentRef} `)).map(([, times]) => times);
}

/** Only heartbeats arrive. */
async function measureIdle(
  fleet: BenchFleet,
): Promise<Pick<RolloutTimes, 'heartbeats' | 'reconcilesWhileIdle'>> {
  await pause(IDLE_MS / 2);
  const [heartbeats, reconciles] = [fleet.heartbeats(), await reconcileCount()];
  await pause(IDLE_MS);
  return {
    heartbeats: fleet.heartbeats() - heartbeats,
    reconcilesWhileIdle: (await reconcileCount()) - reconciles,
  };
}

/** Of the controller of component sets, by its metrics. */
async function reconcileCount(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${PORT}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines
    .filter(
      (line) => /^\w*reconcile\w*_(count|total)\{/.test(line) && line.includes('controller="componentset"'),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function measurePause(fleet: BenchFleet, write: () => Promise<void>): Promise<number> {
  await write();
  const began = performance.now();
  await pause(10_000);
  const last = Math.max(...[...fleet.batches.values()].map(({ lastAssignedMs }) => lastAssignedMs));
  return Math.max(0, last - began);
}

function resultOf(inMemory: ReconcileLoad & HeartbeatLoad, rollout: RolloutTimes): BenchResult {
  return {
    measured: { ...inMemory, ...rollout },
    baseline: { bareWriteMs: rollout.bareWriteMs },
    ratios: {},
    gates: [
      { what: 'ms CPU of a full reconcile of 10,000 machines', value: inMemory.cpuMs, atMost: 200 },
      { what: 'resident MiB with 10,000 machines', value: inMemory.residentMiB, atMost: 500 },
      {
        what: 'ms between two batches beyond their bare writes',
        value: rollout.overheadMostMs,
        atMost: 700,
      },
      // Of an update that ends at once: a longer one is also reported while it runs.
      { what: 'writes for the update of a machine', value: rollout.writes, atMost: 5 },
      { what: 'ms until a pause is effective', value: rollout.pauseMs, atMost: 2000 },
      {
        what: 'reconciles that 60,000 heartbeats of 10,000 agents trigger',
        value: inMemory.triggeredByHeartbeats,
        atMost: 0,
      },
      // Two in a minute look at what no watch tells.
      {
        what: 'reconciles in a minute of nothing but heartbeats',
        value: rollout.reconcilesWhileIdle,
        atMost: 3,
      },
    ],
    setting: { machines: MACHINES, updateSeconds: UPDATE_SECONDS, fullReconcile: FULL },
  };
}

type Until = (holds: () => Promise<boolean>) => Promise<void>;

/** Controllers that lost their Lease end, and nothing goes on without them. */
async function untilOf(holds: () => Promise<boolean>, controllers: ChildProcess): Promise<void> {
  const end = performance.now() + WITHIN_MS;
  while (!(await holds())) {
    if (controllers.exitCode !== null) throw new Error('the controllers ended');
    if (performance.now() > end) throw new Error(`not reached within ${WITHIN_MS} ms`);
    await pause(250);
  }
}
