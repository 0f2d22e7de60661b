/** Starts, restarts and stops the processes of a sandbox's units. They survive the agent, and the next one adopts them. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { messageOf } from '../../../os/errors.ts';
import { readFileIfExists } from '../../../os/files.ts';
import { HostError } from '../errors.ts';
import type { UnitDefinition } from '../port.ts';
import type { SandboxFolders } from './folders.ts';
import { findMain, isAlive, readScriptDigest, sendSignal, spawnUnit, unitPids } from './unit-process.ts';
import {
  afterExit,
  createUnitStates,
  NOT_STARTED,
  type UnitMain,
  type UnitState,
  type UnitStates,
} from './unit-state.ts';

const POLL_MS = 100;
const KILL_MS = 20_000;
const MINUTE_MS = 60_000;
const RETRY_MS = 1000;

interface SupervisorOptions {
  readonly folders: SandboxFolders;
  readonly clock: Clock;
  /** Handles a change: it is called when a unit ended or was started again. */
  readonly onChange: (unit: string) => void;
}

export class SandboxSupervisor {
  readonly states: UnitStates;
  readonly #folders: SandboxFolders;
  readonly #clock: Clock;
  readonly #onChange: (unit: string) => void;
  readonly #closed = new AbortController();
  /** The runs, one for each unit that is supervised. */
  readonly #runs = new Map<string, { readonly done: Promise<void>; readonly stop: AbortController }>();

  constructor({ folders, clock, onChange }: SupervisorOptions) {
    this.#folders = folders;
    this.#clock = clock;
    this.#onChange = onChange;
    this.states = createUnitStates(folders);
  }

  /** Starts a unit. Resolves when the process runs, or for a OneShot when it has ended. */
  async start(unit: UnitDefinition): Promise<void> {
    const { name } = unit;
    await this.#endRun(name);
    // What is left of an earlier run must not share ports and files with this one.
    await this.#endProcesses(name, { signal: 'SIGKILL', timeoutMs: 0 });
    const state = await this.#recordIntent(unit, { ...NOT_STARTED, intent: 'Running' });
    try {
      const { ended } = await this.#spawn(unit, state);
      if (unit.type === 'OneShot') await this.#finishHook(unit, ended);
      else this.#supervise(unit, ended);
    } catch (error) {
      // The next agent adopts what runs.
      if (this.#closed.signal.aborted) throw error;
      // How a hook ended is known already.
      const { outcome } = await this.states.read(name);
      if (!outcome) await this.states.write(name, { ...state, outcome: 'Failed', result: messageOf(error) });
      throw error;
    }
  }

  /** Continues to supervise what an earlier agent started. */
  async adopt(unit: UnitDefinition): Promise<void> {
    const { name, type } = unit;
    const state = await this.states.read(name);
    if (state.intent === 'Stopped' || state.outcome || this.#runs.has(name)) return;
    const { ended } = await this.#adoptRun(unit, state);
    if (type === 'Service') return this.#supervise(unit, ended);
    const stop = new AbortController();
    const done = untilAborted(this.#finishHook(unit, ended), stop.signal).catch(() => undefined);
    this.#runs.set(name, { done, stop });
  }

  async #adoptRun(unit: UnitDefinition, state: UnitState): Promise<Run> {
    const { name, type } = unit;
    const main = isAlive(state.process)
      ? state.process
      : await findMain(this.#folders, name, this.#clock.now());
    if (main) {
      await this.#recordProcess(name, state, main);
      return { ended: this.#untilEnded(unit, main) };
    }
    // The last agent was killed before it started the process: the unit has not ended, so this start is not a restart.
    if (type === 'Service' && isUnborn(state)) return await this.#restart(unit, state);
    return { ended: this.#lastResult(unit) };
  }

  async stop(unit: UnitDefinition): Promise<void> {
    const { name, stop } = unit;
    await this.#endRun(name);
    const { outcome: _outcome, ...before } = await this.states.read(name);
    const state: UnitState = { ...before, intent: 'Stopped', restarts: 0 };
    // Durable before the signal: an agent that is killed here must not start it again.
    await this.states.write(name, state);
    await this.#endProcesses(name, { signal: `SIG${stop.signal}`, timeoutMs: stop.timeoutSeconds * 1000 });
    const { process: _ended, ...stopped } = state;
    await this.states.write(name, stopped);
    this.#onChange(name);
  }

  async endAll(): Promise<void> {
    for (const name of this.#runs.keys()) await this.#endRun(name);
    await this.#endProcesses(undefined, { signal: 'SIGKILL', timeoutMs: 0 });
  }

  /** Ends the supervision and leaves the processes. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const name of this.#runs.keys()) await this.#endRun(name);
  }

  async #spawn(unit: UnitDefinition, state: UnitState): Promise<Run> {
    const { main, ended } = await spawnUnit(this.#folders, unit, this.#clock.now());
    if (main) await this.#recordProcess(unit.name, state, main);
    return { ended };
  }

  /** Records what is about to start, before it can run. */
  async #recordIntent(unit: UnitDefinition, state: UnitState): Promise<UnitState> {
    const { scriptDigest: _earlier, ...rest } = state;
    const intended = { ...rest, ...optional('scriptDigest', await readScriptDigest(unit)) };
    await this.states.write(unit.name, intended);
    return intended;
  }

  async #recordProcess(name: string, state: UnitState, main: UnitMain): Promise<void> {
    const process = { ...optional('scriptDigest', state.scriptDigest), ...main };
    await this.states.write(name, { ...state, process });
  }

  async #untilEnded(unit: UnitDefinition, main: UnitMain): Promise<string | undefined> {
    while (isAlive(main)) await this.#clock.sleep(POLL_MS, this.#closed.signal);
    return await this.#lastResult(unit);
  }

  /** Returns the result of a process that another agent started: only a hook leaves its exit code. */
  async #lastResult({ name, type }: UnitDefinition): Promise<string | undefined> {
    const code = type === 'OneShot' ? await readFileIfExists(this.#folders.exitFile(name)) : undefined;
    return code === undefined ? undefined : `exit code ${code.trim()}`;
  }

  #supervise(unit: UnitDefinition, ended: Promise<string | undefined>): void {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closed.signal]);
    const done = this.#restartForever(unit, ended, signal).catch(() => undefined);
    this.#runs.set(unit.name, { done, stop });
  }

  async #restartForever(
    unit: UnitDefinition,
    firstEnd: Promise<string | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const restarts: number[] = [];
    for (let run: Run | undefined = { ended: firstEnd }; run; ) {
      const result: string | undefined = await untilAborted(run.ended, signal);
      run = await this.#untilHandled(unit, { result, restarts, signal });
    }
  }

  /**
   * Handles the end of a process until it succeeds. A full disk must not end the supervision: the end is handled again until there is
   * space.
   */
  async #untilHandled(unit: UnitDefinition, exit: UnitExit): Promise<Run | undefined> {
    for (;;) {
      try {
        return await this.#afterExit(unit, exit);
      } catch {
        exit.signal.throwIfAborted();
        await this.#clock.sleep(RETRY_MS, exit.signal);
      }
    }
  }

  /** Returns the next run; undefined when there is none. */
  async #afterExit(unit: UnitDefinition, { result, restarts, signal }: UnitExit): Promise<Run | undefined> {
    const { name, restart } = unit;
    const { process: _ended, ...state } = await this.states.read(name);
    if (state.intent === 'Stopped') return undefined;
    const nowMs = this.#clock.monotonicMs();
    const recentRestarts = restarts.filter((atMs) => nowMs - atMs < MINUTE_MS).length;
    const next = afterExit({ ...restart, result, recentRestarts });
    const after: UnitState = { ...state, result: result ?? 'unknown' };
    await this.states.write(name, next === 'Restart' ? after : { ...after, outcome: next });
    this.#onChange(name);
    if (next !== 'Restart') return undefined;
    await this.#clock.sleep(restart.delaySeconds * 1000, signal);
    restarts.push(this.#clock.monotonicMs());
    return await this.#restart(unit, { ...after, restarts: state.restarts + 1 });
  }

  /** Starts a unit again. A program that cannot be started counts as one that ended. */
  async #restart(unit: UnitDefinition, state: UnitState): Promise<Run> {
    const intended = await this.#recordIntent(unit, state);
    try {
      const run = await this.#spawn(unit, intended);
      this.#onChange(unit.name);
      return run;
    } catch (error) {
      return { ended: Promise.resolve(messageOf(error)) };
    }
  }

  async #finishHook(unit: UnitDefinition, ended: Promise<string | undefined>): Promise<void> {
    const { name, timeoutSeconds } = unit;
    const timer = new AbortController();
    const timedOut = this.#clock
      .sleep(timeoutSeconds * 1000, AbortSignal.any([timer.signal, this.#closed.signal]))
      .then(() => `no end within ${timeoutSeconds} s`);
    timedOut.catch(() => undefined);
    const result = await Promise.race([ended, timedOut]);
    timer.abort();
    await this.#endProcesses(name, { signal: 'SIGKILL', timeoutMs: 0 });
    const { process: _ended, ...state } = await this.states.read(name);
    if (state.intent === 'Stopped') return;
    const outcome = result === 'exit code 0' ? 'Succeeded' : 'Failed';
    await this.states.write(name, { ...state, outcome, result: result ?? 'unknown' });
    this.#onChange(name);
    if (outcome === 'Failed') {
      throw new HostError('UnitFailed', `unit ${name} failed: ${result ?? 'unknown'}`, { where: name });
    }
  }

  async #endRun(name: string): Promise<void> {
    const run = this.#runs.get(name);
    if (!run) return;
    this.#runs.delete(name);
    run.stop.abort();
    await run.done;
  }

  async #endProcesses(
    name: string | undefined,
    { signal, timeoutMs }: { readonly signal: string; readonly timeoutMs: number },
  ): Promise<void> {
    if (timeoutMs > 0) {
      sendSignal(await unitPids(this.#folders, name), signal as NodeJS.Signals);
      if (await this.#endedWithin(name, timeoutMs)) return;
    }
    sendSignal(await unitPids(this.#folders, name), 'SIGKILL');
    if (await this.#endedWithin(name, KILL_MS)) return;
    throw new HostError('NotStopped', `processes of unit ${name ?? ''} did not end after SIGKILL`, {
      where: name ?? '',
      hint: 'inspect them with ps: they may wait for a disk that does not respond',
    });
  }

  async #endedWithin(name: string | undefined, ms: number): Promise<boolean> {
    const deadlineMs = this.#clock.monotonicMs() + ms;
    for (;;) {
      if ((await unitPids(this.#folders, name)).length === 0) return true;
      if (this.#clock.monotonicMs() >= deadlineMs) return false;
      await this.#clock.sleep(POLL_MS);
    }
  }
}

/** Tells whether a unit was to start, and no process of it is known: neither one that runs nor one that has ended. */
function isUnborn({ process: known, result, restarts }: UnitState): boolean {
  return known === undefined && result === undefined && restarts === 0;
}

interface UnitExit {
  readonly result: string | undefined;
  /** The times of earlier restarts. */
  readonly restarts: number[];
  readonly signal: AbortSignal;
}

/** Holds the end of a run in an object: a promise of a promise would wait for both. */
interface Run {
  readonly ended: Promise<string | undefined>;
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error('no longer supervised', { cause: signal.reason }));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
