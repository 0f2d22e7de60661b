/** Runs `kubenode start`: a local hub in the foreground, or with `--demo` (`npm start`) a whole fleet, for evaluation and development. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { CONSOLE_PORT } from '../../console/server/server.ts';
import { type LocalMetrics, metricsUrl, runMetrics, startMetrics } from '../../demo/metrics/metrics.ts';
import { type MetricsFlags, requestedPrometheus } from '../../demo/metrics/program.ts';
import { DEMO_CLUSTERS, type DemoOptions, runDemo } from '../../demo/start/demo.ts';
import { ensureDemoRepository } from '../../demo/template/demo-repository.ts';
import { createNpm } from '../../demo/template/npm.ts';
import { packOwn } from '../../demo/template/package-cache.ts';
import { selectedVersion } from '../../demo/tour/versions.ts';
import { type BackoffState, backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import { endsFleet, repairLocalFleet, stopLocalFleet } from '../../local/fleet.ts';
import { stateFolder } from '../../local/folders.ts';
import type { Layout } from '../../local/layout.ts';
import { stopPrometheus } from '../../local/prometheus.ts';
import { type LocalFleetStatus, namedProcesses, readLocalFleetStatus } from '../../local/status.ts';
import { findNextPort } from '../../os/net/ports.ts';
import { systemRandom } from '../../os/system-random.ts';
import { describeError } from '../errors.ts';
import { stopPlanesOfFleet } from '../hosting/stop-planes.ts';
import type { Io } from '../io.ts';
import { addDirOption } from '../local/dir-option.ts';
import { withLocalErrors } from '../local/errors.ts';
import { requireNotStarted } from '../local/fleet-programs.ts';
import { endMachines } from '../local/machines-folder.ts';
import { startLocalClusters } from '../local/start-clusters.ts';
import { type StepProgress, withProgress } from '../progress.ts';
import { shellWord } from '../runnable.ts';

const HELP = `
Starts the local hub (see: kubenode local up) with all kinds of kubenode, prints how to connect to it, and prints every
change of its state until Ctrl-C. A process of it that ends is started again. Clusters of "kubenode local up" keep running; this
command stops what it started, or one before it that was killed.
The data is kept; "kubenode local down --wipe" removes it.

With --metrics a real Prometheus runs beside the fleet, with the rules and alerts of kubenode, and scrapes each of its processes: the program
"prometheus" on the PATH, or --prometheus. It ends with this command; without it everything else works.

With --demo it runs a whole fleet: three clusters besides the hub, sync, the controllers, the console, and ten machines, each a folder of this computer
with a real agent. FOLDER is its git repository, created if it does not exist: change fleet/versions.ts and commit, or run "kubenode tour" in
another terminal. See docs/guides/demo.md. npm start is this, with FOLDER ../kubenode-demo; npm run start:hub starts only the hub.

Examples:
  kubenode start
  kubenode start --demo ../demo
  kubenode start --demo ../demo --metrics`;

const POLL_MS = 2000;

export function createStartCommand(io: Io): Command {
  return addDirOption(io, new Command('start'))
    .description('run a local hub in the foreground, until Ctrl-C')
    .option('--demo <folder>', 'run a fleet with machines, from the repository in this folder')
    .option('--metrics', 'run a Prometheus beside the fleet, which scrapes its processes')
    .option('--prometheus <path>', 'with --metrics: the program (default: prometheus on the PATH)')
    .addHelpText('after', HELP)
    .action((flags: StartFlags) => withLocalErrors(() => start(io, flags)));
}

interface StartFlags extends MetricsFlags {
  readonly dir: string;
  readonly demo?: string;
}

async function start(io: Io, { dir, demo, ...flags }: StartFlags): Promise<void> {
  const prometheus = await requestedPrometheus(io, flags);
  const repository = demo === undefined ? undefined : resolve(io.cwd, demo);
  if (repository !== undefined) await requireNotStarted(dir);
  try {
    let warning: string | undefined;
    const { layout } = await withProgress(io, async (progress) => {
      if (repository !== undefined) warning = await ensureRepository(io, repository, progress);
      const clusters = repository === undefined ? {} : { clusters: DEMO_CLUSTERS };
      return await startLocalClusters(
        io,
        { dir, install: true, claims: true, output: 'table', ...clusters },
        progress,
      );
    });
    if (warning !== undefined) io.err(warning);
    const metrics = await startMetrics(io, layout, prometheus);
    try {
      await runStarted(io, layout, { dir, repository, metrics });
    } finally {
      await metrics?.lock.release();
    }
  } finally {
    if (await endsFleet(dir)) await stop(io, dir);
  }
}

interface StartedFleet {
  readonly dir: string;
  readonly repository: string | undefined;
  readonly metrics: LocalMetrics | undefined;
}

/** Prints how to use the fleet, and runs its programs until the signal of the command. */
async function runStarted(io: Io, layout: Layout, { dir, repository, metrics }: StartedFleet): Promise<void> {
  const demo = repository === undefined ? undefined : { repository, port: await findConsolePort(), metrics };
  const dirOption = layout.root === stateFolder(io.env) ? '' : ` --dir ${shellWord(layout.root)}`;
  const isOurs = await endsFleet(dir);
  io.out(introduction(layout.kubeconfig, { folder: io.cwd, demo, metrics, isOurs, dirOption }));
  const programs = demo
    ? runDemo(io, layout, demo)
    : metrics && runMetrics(io, layout, { ...metrics, expected: [] });
  await Promise.all([watch(io, dir), programs]);
}

async function ensureRepository(io: Io, folder: string, progress: StepProgress): Promise<string | undefined> {
  const npm = createNpm(io);
  const packed = (): Promise<string> =>
    packOwn(io, npm, () => progress.step('packing kubenode for the repository'));
  return await ensureDemoRepository(folder, { progress, npm, packed });
}

export interface Started {
  /** The folder where this command runs: in another one, npx would look for a package of that name. */
  readonly folder: string;
  readonly demo: DemoOptions | undefined;
  readonly metrics?: Pick<LocalMetrics, 'port'> | undefined;
  /** Whether the fleet is stopped at the end of this command. */
  readonly isOurs: boolean;
  /** The option of commands that find the fleet by its folder. */
  readonly dirOption: string;
}

export function introduction(
  kubeconfig: string,
  { folder, demo, metrics, isOurs, dirOption }: Started,
): string {
  const commands =
    demo === undefined
      ? '  kubectl get crd'
      : `  npx kubenode tour${dirOption}
  npx kubenode status
  npx kubenode machine list
${updateCommands(demo.repository)}  npx kubenode status --watch`;
  const page = demo === undefined ? '' : `The fleet in a browser: http://127.0.0.1:${demo.port}/\n`;
  const prometheus = metrics === undefined ? '' : `Prometheus, which scrapes it: ${metricsUrl(metrics)}\n`;
  const pages = `${page}${prometheus}`;
  const what = demo === undefined ? 'The hub is' : 'A hub and three clusters are';
  const stops = demo === undefined ? 'stops the hub' : 'stops all of it';
  return `
${pages}${pages === '' ? '' : '\n'}${what} running, with the kinds of kubenode installed. In another terminal:
  cd ${shellWord(folder)}
  export KUBECONFIG=${shellWord(kubeconfig)}
${commands}
Ctrl-C ${isOurs ? stops : `ends this command; the clusters keep running: npx kubenode local down${dirOption} stops them`}.

`;
}

/** Returns the commands that update the repository from its current version; none for one whose file was rewritten. */
function updateCommands(repository: string): string {
  const file = join(repository, 'fleet/versions.ts');
  const version = existsSync(file) ? selectedVersion(readFileSync(file, 'utf8')) : undefined;
  if (version === undefined) return '';
  const next = version === '1.1.0' ? '1.0.0' : '1.1.0';
  // Also after the tour, which selects other versions.
  return `  sed -i "s/web: '.*'/web: '${next}'/" ${shellWord(file)}
  git -C ${shellWord(repository)} commit -am "web ${next}"
`;
}

/** Finds the first free port from the usual one on: the address stays the same when the console is started again. */
async function findConsolePort(): Promise<number> {
  return await findNextPort(new Set(), '127.0.0.1', CONSOLE_PORT);
}

/** Prints only changes, so that the output also serves as the log of a service. */
async function watch(io: Io, dir: string): Promise<void> {
  let previous = '';
  let errors = NO_ERRORS;
  while (!io.signal.aborted) {
    const status = await readLocalFleetStatus(dir, io.clock.now());
    const text = formatStatus(status);
    if (text !== previous) io.out(`${io.clock.now().toISOString()}\n${text}`);
    previous = text;
    const ended = endedProcesses(status);
    if (ended.length > 0) errors = await repair(io, dir, ended, errors);
    await io.clock.sleep(Math.max(POLL_MS, errors.delayMs), io.signal).catch(() => undefined);
  }
}

/** Lists the processes that ended. Empty for a fleet of which no process runs: it was stopped on purpose. */
export function endedProcesses(status: LocalFleetStatus | undefined): readonly string[] {
  if (!status) return [];
  const all = namedProcesses(status);
  const ended = all.filter(({ state }) => state === 'Stopped');
  return ended.length === all.length ? [] : ended.map(({ id }) => id);
}

/** Starts ended processes again. A process that ends repeatedly is started with growing delays. */
async function repair(
  io: Io,
  dir: string,
  ended: readonly string[],
  errors: BackoffState,
): Promise<BackoffState> {
  const { clock, env, signal } = io;
  io.err(`${ended.join(', ')}: not running, starting again\n`);
  try {
    const warn = (text: string): void => io.err(`${text}\n`);
    await repairLocalFleet({ dir, env, clock, signal, warn, onStep: () => undefined });
    return NO_ERRORS;
  } catch (error) {
    if (signal.aborted) return NO_ERRORS;
    io.err(`${describeError(error).text}\n`);
    return backOffAfterError(errors, { atMs: clock.monotonicMs(), random: systemRandom() }, RETRY);
  }
}

const RETRY = { firstMs: POLL_MS, longestMs: 60_000, stableMs: 300_000 };

function formatStatus(status: LocalFleetStatus | undefined): string {
  if (!status) return '  no clusters found: start them with kubenode local up\n';
  return status.clusters
    .map(({ name, state, server, because }) => `  ${name}  ${state}  ${server}  ${because}\n`)
    .join('');
}

/** Stops the fleet. Runs after Ctrl-C, so it does not use the aborted signal; a later Ctrl-C ends the process at once. */
async function stop(io: Io, dir: string): Promise<void> {
  io.err('stopping: another Ctrl-C leaves processes behind, which kubenode local down ends\n');
  const signal = new AbortController().signal;
  await stopPrometheus(dir, io.clock);
  await stopPlanesOfFleet(dir, { clock: io.clock, wipe: false });
  await endMachines(dir, io.clock);
  await stopLocalFleet({ dir, clock: io.clock, signal, onStep: () => undefined, wipe: false });
}
