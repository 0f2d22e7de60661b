/**
 * A fleet of control planes on this machine: brought up and taken down.
 *
 * Nothing is remembered of processes. Each call looks at what runs, plans, and carries the plan out, so a fleet that
 * was killed half-way, by whomever, is picked up by the next `up` and cleared away by the next `down`.
 */
import { mkdir, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../os/clock.ts';
import { systemCode } from '../os/errors.ts';
import { checkFreeSpace, toDiskError } from '../os/files.ts';
import { type LockOptions, withLock } from '../os/lock.ts';
import { findNextPort } from '../os/ports.ts';
import { type Binaries, programIn } from './binaries/binaries.ts';
import { type Host, platformOf } from './binaries/platform.ts';
import { obtainBinaries } from './binaries/resolve.ts';
import { LocalError } from './errors.ts';
import type { Environment } from './folders.ts';
import { type Layout, layoutOf, OWN_NAMES } from './layout.ts';
import { ensureAccess, type FleetAccess } from './pki/access.ts';
import type { Program } from './processes/commands.ts';
import { growState, portsOf, replacePort, type Wish } from './processes/desired-state.ts';
import { carryOut, PortsTaken, stopSome } from './processes/execute.ts';
import { observe } from './processes/observe.ts';
import { planProcesses, planStop } from './processes/plan.ts';
import { processesOf } from './processes/specs.ts';
import { type FleetState, readState, writeState } from './state.ts';

export interface FleetOptions {
  /** The folder of the fleet. */
  readonly dir: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** What happens now, for a person who waits. */
  readonly tell: (step: string) => void;
}

export interface UpOptions extends FleetOptions, Wish {
  readonly env: Environment;
  readonly assets?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** For tests; default: this machine. */
  readonly host?: Host;
  /** What a person should know afterwards too. */
  readonly warn: (text: string) => void;
}

export interface Fleet {
  readonly state: FleetState;
  readonly layout: Layout;
  readonly access: FleetAccess;
  readonly binaries: Binaries;
}

const READY_MS = 120_000;
/** etcd takes 64 MB for each of two log files before it holds anything; the rest is for a small cluster and its logs. */
const LEAST_BYTES = 200e6;
/** A port can be lost between the look and the start; three times in a row is no coincidence. */
const TRIES = 3;

/** `then` still holds the lock: nobody takes down what it works on. */
export async function bringUp<T>(options: UpOptions, then: (fleet: Fleet) => Promise<T>): Promise<T> {
  // Before anything else: nothing below works elsewhere, and nothing should be left there.
  platformOf(options.host ?? process);
  const layout = await claimFolder(options.dir);
  return await withLock(layout.root, waitingFor(options), async () => {
    const { env, assets, tell, clock, signal } = options;
    let state = await growState(await readState(layout.stateFile), options);
    const wanted = programsOf(state);
    const binaries = await obtainBinaries({ env, assets, tell, clock, signal, wanted });
    for (let tried = 1; ; tried += 1) {
      try {
        return await then(await start(state, layout, binaries, options));
      } catch (error) {
        if (!(error instanceof PortsTaken) || tried === TRIES) throw error;
        state = await movePorts(state, error.ports, options);
      }
    }
  });
}

/** A folder from the tools of other projects often holds the first two only. */
function programsOf({ clusters }: FleetState): readonly Program[] {
  const controllers = clusters.some((cluster) => cluster.controllers);
  return ['etcd', 'kube-apiserver', ...(controllers ? CONTROLLERS : [])];
}

const CONTROLLERS = ['kube-controller-manager', 'kube-scheduler'] as const;

/** What will be there is written down before it is started. */
async function start(
  state: FleetState,
  layout: Layout,
  binaries: Binaries,
  options: UpOptions,
): Promise<Fleet> {
  const { clock, timeoutMs = READY_MS } = options;
  await checkFreeSpace(layout.root, LEAST_BYTES);
  await writeState(layout.stateFile, state);
  await mkdir(layout.logs, { recursive: true });
  await mkdir(layout.etcd.dataFolder, { recursive: true, mode: 0o700 });
  const access = await ensureAccess(state, layout, clock.now());
  const specs = processesOf(state, layout, programIn(binaries));
  const observed = await observe(specs, layout);
  const entries = planProcesses(observed.slots, observed.strays);
  await carryOut({ ...options, entries, specs, observed, access, timeoutMs });
  return { state, layout, access, binaries };
}

async function movePorts(
  state: FleetState,
  ports: readonly number[],
  options: UpOptions,
): Promise<FleetState> {
  let moved = state;
  for (const port of ports) {
    const free = await findNextPort(new Set(portsOf(moved)), '0.0.0.0');
    options.warn(
      `port ${port} is taken by another program: using ${free} instead, kubeconfigs are rewritten`,
    );
    moved = replacePort(moved, port, free);
  }
  return moved;
}

export interface DownOptions extends FleetOptions {
  /** Remove the data, the keys and the logs as well. */
  readonly wipe: boolean;
}

/** Needs neither a state file nor binaries, so it clears away broken fleets too. True when there was something. */
export async function takeDown(options: DownOptions): Promise<boolean> {
  const layout = await existingFolder(options.dir);
  if (!layout) return false;
  return await withLock(layout.root, waitingFor(options), async () => {
    const observed = await observe([], layout);
    for (const stage of planStop(observed.strays)) await stopSome({ ...options, observed }, stage);
    if (options.wipe) await wipe(layout);
    return true;
  });
}

async function wipe({ root }: Layout): Promise<void> {
  for (const name of OWN_NAMES) await rm(join(root, name), { recursive: true, force: true });
  // Somebody else's file in there is no reason to fail, and none to remove it.
  await rmdir(root).catch(() => undefined);
}

/** Made when it is not there; refused when it holds something that is not ours. */
async function claimFolder(dir: string): Promise<Layout> {
  const path = resolve(dir);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const root = await realpath(path);
    const foreign = (await readdir(root)).filter(
      (name) => !OWN_NAMES.some((own) => own === name) && !isLeftover(name),
    );
    if (foreign.length > 0) throw foreignError(root, foreign);
    return layoutOf(root);
  } catch (error) {
    throw toDiskError(error, path);
  }
}

/** A file that was being written when its writer was killed. */
function isLeftover(name: string): boolean {
  return /^\.[0-9a-f]{12}\.tmp$/.test(name);
}

function foreignError(root: string, foreign: readonly string[]): LocalError {
  const some = foreign.slice(0, 3).join(', ');
  return new LocalError('BadFolder', `${root} holds other things than a local fleet: ${some}`, {
    where: root,
    hint: 'name an empty folder, or one that does not exist yet, with --dir',
  });
}

export async function existingFolder(dir: string): Promise<Layout | undefined> {
  try {
    return layoutOf(await realpath(resolve(dir)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, dir);
  }
}

function waitingFor({ tell, signal }: FleetOptions): LockOptions {
  return {
    signal,
    waiting: (holder) => tell(`waiting for another kubenode that works on this fleet (${holder})`),
  };
}
