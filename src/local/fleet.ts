/**
 * Starts and stops a fleet of control planes on this machine.
 *
 * No state of processes is stored. Each call observes the running processes, plans, and executes the plan, so after an
 * interrupted call the next `up` completes the start and the next `down` completes the stop.
 */
import { mkdir, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../os/clock.ts';
import { systemCode } from '../os/errors.ts';
import { checkFreeSpace, toDiskError } from '../os/files.ts';
import { type LockOptions, withLock } from '../os/lock.ts';
import { findFreePort } from '../os/net/ports.ts';
import { type Binaries, createProgramLookup } from './binaries/binaries.ts';
import { detectPlatform, type HostPlatform } from './binaries/platform.ts';
import { resolveBinaries } from './binaries/resolve.ts';
import { claimFleet, isClaimedHere, releaseClaim, releaseEndedClaim } from './claim.ts';
import { LocalError } from './errors.ts';
import type { LocalEnvironment } from './folders.ts';
import { createLayout, type Layout, OWN_NAMES } from './layout.ts';
import { ensureAccess, type FleetAccess } from './pki/access.ts';
import type { Program } from './processes/commands.ts';
import { listPorts, planFleetState, type RequestedClusters, replacePort } from './processes/desired-state.ts';
import { executePlan, PortsTakenError, stopProcesses } from './processes/execute.ts';
import { observeProcesses } from './processes/observe.ts';
import { planProcesses, planStop } from './processes/plan.ts';
import { createProcessSpecs } from './processes/specs.ts';
import { type FleetState, readState, writeState } from './state.ts';

export interface LocalFleetOptions {
  /** The folder of the fleet. */
  readonly dir: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Called with a description of each step. */
  readonly onStep: (step: string) => void;
}

export interface StartFleetOptions extends LocalFleetOptions, RequestedClusters {
  readonly env: LocalEnvironment;
  readonly assets?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** For tests; default: this machine. */
  readonly host?: HostPlatform;
  /** This process stops the fleet at its end, unless a command that has ended started it: see claim.ts. */
  readonly claims?: boolean | undefined;
  /** Called with warnings, which stay visible. */
  readonly warn: (text: string) => void;
}

export interface LocalFleet {
  readonly state: FleetState;
  readonly layout: Layout;
  readonly access: FleetAccess;
  readonly binaries: Binaries;
}

export const READY_MS = 120_000;
/** An empty etcd takes 64 MB for each of two log files; the rest is for a small cluster and its logs. */
const MIN_FREE_BYTES = 200e6;
/**
 * Another program can take a port between the check and the start. A fleet that starts at the same moment does so in each of the three stages
 * of the start; twice as often is not a coincidence.
 */
const MAX_ATTEMPTS = 6;

/** Runs `work` on the started fleet while it still holds the lock, so that no other process stops the fleet. */
export async function startLocalFleet<T>(
  options: StartFleetOptions,
  work: (fleet: LocalFleet) => Promise<T>,
): Promise<T> {
  // First, so that an unsupported platform fails before any file is created.
  detectPlatform(options.host ?? process);
  const layout = await claimFolder(options.dir);
  return await withLock(layout.root, createLockOptions(options), async () => {
    const { env, assets, onStep, clock, signal } = options;
    await (options.claims ? claimFleet(layout, await hasProcesses(layout)) : releaseEndedClaim(layout));
    let state = await planFleetState(await readState(layout.stateFile), options);
    const programs = requiredPrograms(state);
    const binaries = await resolveBinaries({ env, assets, onStep, clock, signal, programs });
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work(await startProcesses(state, layout, binaries, options));
      } catch (error) {
        if (!(error instanceof PortsTakenError) || attempt === MAX_ATTEMPTS) throw error;
        state = await movePorts(state, error.ports, options);
      }
    }
  });
}

/**
 * Starts the processes again that ended while others of the fleet run. A fleet of which none runs was stopped on purpose, by `down`,
 * and stays stopped: decided under the lock, so that it never undoes half of a stop.
 */
export async function repairLocalFleet(options: StartFleetOptions): Promise<void> {
  const layout = await findFleetFolder(options.dir);
  if (!layout) return;
  await withLock(layout.root, createLockOptions(options), async () => {
    const state = await readState(layout.stateFile);
    if (!state || !(await hasProcesses(layout))) return;
    const programs = requiredPrograms(state);
    await startProcesses(state, layout, await resolveBinaries({ ...options, programs }), options);
  });
}

async function hasProcesses(layout: Layout): Promise<boolean> {
  return (await observeProcesses([], layout)).identities.size > 0;
}

/** Only what is needed: folders with test assets of other projects often contain only the first two. */
function requiredPrograms({ clusters }: FleetState): readonly Program[] {
  const controllers = clusters.some((cluster) => cluster.controllers);
  return ['etcd', 'kube-apiserver', ...(controllers ? CONTROLLERS : [])];
}

const CONTROLLERS = ['kube-controller-manager', 'kube-scheduler'] as const;

/** Writes the state file before it starts processes. */
async function startProcesses(
  state: FleetState,
  layout: Layout,
  binaries: Binaries,
  options: StartFleetOptions,
): Promise<LocalFleet> {
  const { clock, timeoutMs = READY_MS } = options;
  await checkFreeSpace(layout.root, MIN_FREE_BYTES);
  await writeState(layout.stateFile, state);
  await mkdir(layout.logs, { recursive: true });
  await mkdir(layout.etcd.dataFolder, { recursive: true, mode: 0o700 });
  const access = await ensureAccess(state, layout, clock.now());
  const specs = createProcessSpecs(state, layout, createProgramLookup(binaries));
  const observed = await observeProcesses(specs, layout);
  const entries = planProcesses(observed.slots, observed.strays);
  await executePlan({ ...options, entries, specs, observed, access, timeoutMs });
  return { state, layout, access, binaries };
}

/** Chooses random ports: fleets that start at the same moment, and look for the next free port, would take each other's again. */
async function movePorts(
  state: FleetState,
  ports: readonly number[],
  options: StartFleetOptions,
): Promise<FleetState> {
  let moved = state;
  for (const port of ports) {
    const free = await findFreePort('0.0.0.0', new Set(listPorts(moved)));
    options.warn(
      `port ${port} is in use by another program: using ${free} instead and updating the kubeconfigs`,
    );
    moved = replacePort(moved, port, free);
  }
  return moved;
}

export interface StopFleetOptions extends LocalFleetOptions {
  /** Also deletes the data, the keys and the logs. */
  readonly wipe: boolean;
}

/** Needs neither a state file nor binaries, so it also stops broken fleets. Returns whether the folder exists. */
export async function stopLocalFleet(options: StopFleetOptions): Promise<boolean> {
  const layout = await findFleetFolder(options.dir);
  if (!layout) return false;
  return await withLock(layout.root, createLockOptions(options), async () => {
    const observed = await observeProcesses([], layout);
    for (const stage of planStop(observed.strays)) await stopProcesses({ ...options, observed }, stage);
    await releaseClaim(layout);
    if (options.wipe) await wipe(layout);
    return true;
  });
}

/** Whether this process stops the fleet at its end. */
export async function endsFleet(dir: string): Promise<boolean> {
  const layout = await findFleetFolder(dir);
  return layout !== undefined && (await isClaimedHere(layout));
}

async function wipe({ root }: Layout): Promise<void> {
  for (const name of (await readdir(root)).filter(isOurs)) await rm(join(root, name), { recursive: true });
  // Fails if other files are in the folder: they are kept.
  await rmdir(root).catch(() => undefined);
}

/** Creates the folder if it is missing; refuses a folder with files that are not ours. */
async function claimFolder(dir: string): Promise<Layout> {
  const path = resolve(dir);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const root = await realpath(path);
    const foreign = (await readdir(root)).filter((name) => !isOurs(name));
    if (foreign.length > 0) throw createForeignFilesError(root, foreign);
    return createLayout(root);
  } catch (error) {
    throw toDiskError(error, path);
  }
}

/** Also a file whose writer was killed: it may hold keys. */
function isOurs(name: string): boolean {
  return OWN_NAMES.some((own) => own === name) || /^\.[0-9a-f]{12}\.tmp$/.test(name);
}

function createForeignFilesError(root: string, foreign: readonly string[]): LocalError {
  const some = foreign.slice(0, 3).join(', ');
  return new LocalError('BadFolder', `${root} contains files that do not belong to a local fleet: ${some}`, {
    where: root,
    hint: 'pass an empty or new folder with --dir',
  });
}

export async function findFleetFolder(dir: string): Promise<Layout | undefined> {
  try {
    return createLayout(await realpath(resolve(dir)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, dir);
  }
}

function createLockOptions({ onStep, signal }: LocalFleetOptions): LockOptions {
  return {
    signal,
    waiting: (holder) => onStep(`waiting for another kubenode process that uses this fleet (${holder})`),
  };
}
