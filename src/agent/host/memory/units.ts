/** Keeps units in memory: definitions are files, processes are numbers. They survive the agent and end with the boot. */
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { HostError } from '../errors.ts';
import type { HostUnits, UnitDefinition, UnitProcess, UnitStatus } from '../port.ts';
import { afterExit } from '../sandbox/unit-state.ts';
import type { MemoryFiles } from './files.ts';

/** The behavior of a program when it is started. */
export type UnitBehavior = 'Runs' | 'FailsToStart' | 'Succeeds' | 'Exits';

interface HostUnit {
  readonly enabled?: boolean;
  readonly programDigest?: string;
  /** How its process differs from every definition. */
  readonly hostDifference?: string;
}

interface UnitState extends Pick<HostUnit, 'hostDifference'> {
  /** The definition. Undefined: a unit of the host that no agent wrote. */
  readonly definition?: UnitDefinition;
  readonly enabled: boolean;
  readonly masked: boolean;
  readonly active: UnitStatus['active'];
  readonly process?: UnitProcess;
  readonly restarts: number;
  readonly result?: string;
  /** The state of a unit of the host before the agent wrote it. */
  readonly original?: Pick<UnitState, 'enabled' | 'active'>;
}

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
const NEW_UNIT = { enabled: false, masked: false, active: 'Inactive', restarts: 0 } as const;
const EXIT_RESULTS = { Succeeds: 'exit code 0', Exits: 'exit code 3' } as const;

export class MemoryUnits implements HostUnits {
  /** The number of starts of each unit, by the agent, the supervisor or a reboot. */
  readonly starts = new Map<string, number>();
  readonly stops = new Map<string, number>();
  readonly reloads = new Map<string, number>();
  readonly #files: MemoryFiles;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #units = new Map<string, UnitState>();
  #nextPid = 100;
  #behaviorOf: (unit: UnitDefinition) => UnitBehavior = () => 'Runs';

  constructor(files: MemoryFiles, clock: Pick<Clock, 'now'>) {
    this.#files = files;
    this.#clock = clock;
  }

  /** Sets how programs behave from now on. */
  behave(behaviorOf: (unit: UnitDefinition) => UnitBehavior): void {
    this.#behaviorOf = behaviorOf;
  }

  async status(unit: UnitDefinition): Promise<UnitStatus | undefined> {
    const state = this.#units.get(unit.name);
    if (!state) return undefined;
    const { enabled, masked, active, restarts, process, result } = state;
    const onDisk = await this.#files.read(definitionFile(unit.name));
    const defined = onDisk !== undefined && new TextDecoder().decode(onDisk) === canonicalJson(unit);
    return {
      defined,
      enabled,
      masked,
      active,
      restarts,
      ...(process && { process }),
      ...(process && !state.definition && optional('hostDifference', state.hostDifference)),
      ...(result !== undefined && { result }),
    };
  }

  async write(unit: UnitDefinition): Promise<void> {
    const { name, existing } = unit;
    const before = this.#units.get(name);
    if (existing && !before) throw notFound(name);
    const content = new TextEncoder().encode(canonicalJson(unit));
    await this.#files.write(definitionFile(name), content, ATTRIBUTES);
    this.#units.set(name, { ...NEW_UNIT, ...(before && withOriginal(before)), definition: unit });
  }

  async remove({ name, existing }: UnitDefinition): Promise<void> {
    const state = this.#units.get(name);
    if (!state?.definition) return;
    if (state.active === 'Active' && !existing) throw unitError(name, 'still runs');
    await this.#files.remove(definitionFile(name));
    if (state.original) await this.#restore(name, state.original);
    else this.#units.delete(name);
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    this.#units.set(name, { ...this.#known(name), enabled, masked: false });
  }

  async start(name: string): Promise<void> {
    const { masked, active } = this.#known(name);
    if (masked) throw unitError(name, 'is masked');
    if (active !== 'Active') await this.#run(name, 0);
  }

  async stop(name: string): Promise<void> {
    if (this.#known(name).active !== 'Inactive') increase(this.stops, name);
    this.#units.set(name, withOriginal(this.#known(name)));
    this.#end(name);
  }

  async reload(name: string): Promise<void> {
    this.#known(name);
    increase(this.reloads, name);
  }

  async logTail(): Promise<string> {
    return '';
  }

  /** Ends every process, then starts what is enabled. */
  async reboot(): Promise<void> {
    for (const name of this.#units.keys()) this.#end(name);
    for (const [name, { enabled, masked }] of this.#units) {
      if (enabled && !masked) await this.start(name).catch(() => undefined);
    }
  }

  /** Ends the process of a unit; the supervisor starts another one. */
  async crash(name: string): Promise<void> {
    const { restarts } = this.#known(name);
    this.#end(name);
    await this.#run(name, restarts + 1);
  }

  /** Masks a unit, as a person does. */
  mask(name: string): void {
    this.#units.set(name, { ...this.#known(name), masked: true });
  }

  /** Adds a unit that runs on the host before any agent wrote it. */
  async install(
    name: string,
    { enabled = false, programDigest, hostDifference }: HostUnit = {},
  ): Promise<void> {
    const process = {
      ...(await this.#createProcess(undefined)),
      ...optional('programDigest', programDigest),
    };
    const difference = optional('hostDifference', hostDifference);
    this.#units.set(name, { ...NEW_UNIT, enabled, active: 'Active', process, ...difference });
  }

  /** Starts a unit, with everything that the supervisor does until it runs, is done, or has failed. */
  async #run(name: string, restarts: number): Promise<void> {
    const { process: _ended, result: _old, ...state } = this.#known(name);
    const { definition } = state;
    increase(this.starts, name);
    const behavior = definition ? this.#behaviorOf(definition) : 'Runs';
    if (behavior === 'FailsToStart') {
      this.#units.set(name, { ...state, active: 'Failed' });
      throw unitError(name, 'exited with code 1');
    }
    if (behavior !== 'Runs' && definition) return await this.#ended(name, { definition, behavior, restarts });
    const process = await this.#createProcess(definition);
    this.#units.set(name, { ...state, active: 'Active', process, restarts });
  }

  async #ended(
    name: string,
    {
      definition,
      behavior,
      restarts,
    }: { definition: UnitDefinition; behavior: 'Succeeds' | 'Exits'; restarts: number },
  ): Promise<void> {
    const { type, restart } = definition;
    const result = EXIT_RESULTS[behavior];
    const state = { ...this.#known(name), result, restarts };
    if (type === 'OneShot') {
      this.#units.set(name, { ...state, active: behavior === 'Succeeds' ? 'Active' : 'Failed' });
      if (behavior === 'Exits') throw unitError(name, `failed: ${result}`);
      return;
    }
    const next = afterExit({ ...restart, result, recentRestarts: restarts });
    if (next === 'Restart') return await this.#run(name, restarts + 1);
    this.#units.set(name, { ...state, active: next === 'Failed' ? 'Failed' : 'Inactive' });
  }

  async #restore(name: string, { enabled, active }: Pick<UnitState, 'enabled' | 'active'>): Promise<void> {
    const { definition: _ours, original: _restored, ...state } = this.#known(name);
    this.#units.set(name, { ...state, enabled, masked: false });
    if (active === 'Active') await this.start(name);
  }

  #end(name: string): void {
    const { process: _ended, result: _result, ...state } = this.#known(name);
    this.#units.set(name, { ...state, active: 'Inactive', restarts: 0 });
  }

  async #createProcess(definition: UnitDefinition | undefined): Promise<UnitProcess> {
    this.#nextPid += 1;
    const program = definition?.exec?.argv[0];
    const programDigest = program === undefined ? undefined : await this.#files.digest(program);
    const startedAt = this.#clock.now().toISOString();
    const process = { pid: this.#nextPid, startId: String(this.#nextPid), startedAt };
    return programDigest === undefined ? process : { ...process, programDigest };
  }

  #known(name: string): UnitState {
    const state = this.#units.get(name);
    if (!state) throw notFound(name);
    return state;
  }
}

/** Records the original state of a unit of the host the first time that it is touched. */
function withOriginal(state: UnitState): UnitState {
  return state.definition || state.original ? state : { ...state, original: state };
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function notFound(name: string): HostError {
  return new HostError('UnitNotFound', `the host has no unit ${name}`, { where: name });
}

function unitError(name: string, problem: string): HostError {
  return new HostError('UnitFailed', `unit ${name} ${problem}`, { where: name });
}

function definitionFile(unit: string): string {
  return `/etc/systemd/system/${unit}.service`;
}
