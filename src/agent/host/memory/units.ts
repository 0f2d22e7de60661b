/** Units in memory: definitions are files, processes are numbers. They survive the agent and end with the boot. */
import { canonicalJson } from '../../../kube/objects/digest.ts';
import type { Clock } from '../../../os/clock.ts';
import { HostError } from '../errors.ts';
import type { HostUnits, UnitDefinition, UnitProcess, UnitStatus } from '../port.ts';
import type { MemoryFiles } from './files.ts';

/** What a program does when it is started. */
export type UnitBehavior = 'Runs' | 'FailsToStart';

interface UnitState {
  readonly definition: UnitDefinition;
  readonly enabled: boolean;
  readonly masked: boolean;
  readonly active: UnitStatus['active'];
  readonly process?: UnitProcess;
  readonly restarts: number;
}

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
const NEW_UNIT = { enabled: false, masked: false, active: 'Inactive', restarts: 0 } as const;

export class MemoryUnits implements HostUnits {
  /** How often each unit was started, by the agent, the supervisor or a reboot. */
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

  /** Decides how programs behave from now on. */
  behave(behaviorOf: (unit: UnitDefinition) => UnitBehavior): void {
    this.#behaviorOf = behaviorOf;
  }

  async status(unit: UnitDefinition): Promise<UnitStatus | undefined> {
    const state = this.#units.get(unit.name);
    if (!state) return undefined;
    const { enabled, masked, active, restarts, process } = state;
    const onDisk = await this.#files.read(definitionFile(unit.name));
    const defined = onDisk !== undefined && new TextDecoder().decode(onDisk) === canonicalJson(unit);
    return { defined, enabled, masked, active, restarts, ...(process && { process }) };
  }

  async write(unit: UnitDefinition): Promise<void> {
    await this.#files.write(
      definitionFile(unit.name),
      new TextEncoder().encode(canonicalJson(unit)),
      ATTRIBUTES,
    );
    this.#units.set(unit.name, { ...NEW_UNIT, ...this.#units.get(unit.name), definition: unit });
  }

  async remove({ name }: UnitDefinition): Promise<void> {
    if (this.#units.get(name)?.active === 'Active') throw unitError(name, 'still runs');
    this.#units.delete(name);
    await this.#files.remove(definitionFile(name));
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    this.#units.set(name, { ...this.#known(name), enabled, masked: false });
  }

  async start(name: string, restarts = 0): Promise<void> {
    const { process: _ended, ...state } = this.#known(name);
    if (state.masked) throw unitError(name, 'is masked');
    if (state.active === 'Active') return;
    increase(this.starts, name);
    if (this.#behaviorOf(state.definition) === 'FailsToStart') {
      this.#units.set(name, { ...state, active: 'Failed' });
      throw unitError(name, 'exited with code 1');
    }
    const process = await this.#createProcess(state.definition);
    this.#units.set(name, { ...state, active: 'Active', process, restarts });
  }

  async stop(name: string): Promise<void> {
    if (this.#known(name).active !== 'Inactive') increase(this.stops, name);
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

  /** The process ends, and the supervisor starts another one. */
  async crash(name: string): Promise<void> {
    const { restarts } = this.#known(name);
    this.#end(name);
    await this.start(name, restarts + 1);
  }

  #end(name: string): void {
    const { process: _ended, ...state } = this.#known(name);
    this.#units.set(name, { ...state, active: 'Inactive', restarts: 0 });
  }

  async #createProcess({ exec }: UnitDefinition): Promise<UnitProcess> {
    this.#nextPid += 1;
    const programDigest = await this.#files.digest(exec?.argv[0] ?? '');
    const startedAt = this.#clock.now().toISOString();
    const process = { pid: this.#nextPid, startId: String(this.#nextPid), startedAt };
    return programDigest === undefined ? process : { ...process, programDigest };
  }

  #known(name: string): UnitState {
    const state = this.#units.get(name);
    if (!state) throw new HostError('UnitNotFound', `the host has no unit ${name}`, { where: name });
    return state;
  }
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function unitError(name: string, problem: string): HostError {
  return new HostError('UnitFailed', `unit ${name} ${problem}`, { where: name });
}

function definitionFile(unit: string): string {
  return `/etc/systemd/system/${unit}.service`;
}
