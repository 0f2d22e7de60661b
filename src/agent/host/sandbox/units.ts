/**
 * Units of a sandbox: child processes with definitions on disk. `<unit>.json` is the definition, `<unit>.enabled` and
 * `<unit>.masked` are empty files, so that a person can edit, disable or mask a unit as on a real host.
 */
import { canonicalJson } from '../../../kube/objects/digest.ts';
import { decodeText } from '../../files/text.ts';
import { HostError } from '../errors.ts';
import { readCleanLogTail } from '../log-tail.ts';
import type { HostFiles, HostProcesses, HostUnits, UnitDefinition, UnitStatus } from '../port.ts';
import { type SandboxFolders, UNIT_DIRECTORY } from './folders.ts';
import type { SandboxSupervisor } from './supervisor.ts';
import { describeProcess, isAlive, sendSignal } from './unit-process.ts';
import { activeState } from './unit-state.ts';

interface SandboxUnitsOptions {
  readonly folders: SandboxFolders;
  readonly files: HostFiles;
  readonly processes: Pick<HostProcesses, 'run'>;
  readonly supervisor: SandboxSupervisor;
}

const ATTRIBUTES = { mode: '0644', owner: 'root:root' };
const RELOAD_LIMITS = { timeoutMs: 30_000, maxOutputBytes: 4096 };
const EMPTY = new Uint8Array();

export class SandboxUnits implements HostUnits {
  readonly #folders: SandboxFolders;
  readonly #files: HostFiles;
  readonly #processes: Pick<HostProcesses, 'run'>;
  readonly #supervisor: SandboxSupervisor;

  constructor({ folders, files, processes, supervisor }: SandboxUnitsOptions) {
    this.#folders = folders;
    this.#files = files;
    this.#processes = processes;
    this.#supervisor = supervisor;
  }

  async status(unit: UnitDefinition): Promise<UnitStatus | undefined> {
    const { name } = unit;
    const content = await this.#files.read(definitionFile(name));
    if (!content) return undefined;
    const state = await this.#supervisor.states.read(name);
    const alive = isAlive(state.process);
    return {
      defined: decodeText(content) === canonicalJson(unit),
      enabled: await this.#exists(enabledFile(name)),
      masked: await this.#exists(maskedFile(name)),
      active: activeState(unit.type, state, alive),
      restarts: state.restarts,
      ...(alive && state.process && { process: await describeProcess(state.process) }),
      ...(state.result !== undefined && { result: state.result }),
    };
  }

  async write(unit: UnitDefinition): Promise<void> {
    requireSupported(unit);
    const content = new TextEncoder().encode(canonicalJson(unit));
    await this.#files.write(definitionFile(unit.name), content, ATTRIBUTES);
    // A process whose definition could not be read is supervised again.
    await this.#supervisor.adopt(unit);
  }

  async remove({ name }: UnitDefinition): Promise<void> {
    const unit = await this.#readDefinition(name).catch(() => undefined);
    const active = unit && (await this.status(unit))?.active;
    if (active === 'Active' || active === 'Activating') {
      throw new HostError('UnitFailed', `unit ${name} still runs`, { where: name });
    }
    await this.#files.remove(enabledFile(name));
    await this.#files.remove(maskedFile(name));
    await this.#supervisor.states.remove(name);
    await this.#files.remove(definitionFile(name));
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#known(name);
    if (await this.#exists(maskedFile(name))) await this.#files.remove(maskedFile(name));
    if (enabled) await this.#files.write(enabledFile(name), EMPTY, ATTRIBUTES);
    else await this.#files.remove(enabledFile(name));
  }

  async start(name: string): Promise<void> {
    const unit = await this.#known(name);
    if (await this.#exists(maskedFile(name))) {
      throw new HostError('UnitFailed', `unit ${name} is masked`, { where: name });
    }
    if ((await this.status(unit))?.active === 'Active') return;
    await this.#supervisor.start(unit);
  }

  async stop(name: string): Promise<void> {
    await this.#supervisor.stop(await this.#known(name));
  }

  async reload(name: string): Promise<void> {
    const { reload } = await this.#known(name);
    if (reload?.argv?.length) return await this.#runReload(name, reload.argv);
    const { process } = await this.#supervisor.states.read(name);
    if (process && isAlive(process)) sendSignal([process.pid], `SIG${reload?.signal ?? 'HUP'}`);
  }

  async #runReload(name: string, argv: readonly string[]): Promise<void> {
    const { exitCode } = await this.#processes.run(argv, RELOAD_LIMITS);
    if (exitCode === 0) return;
    throw new HostError('UnitFailed', `unit ${name} could not be reloaded`, { where: name });
  }

  async logTail(name: string, maxBytes: number): Promise<string> {
    return await readCleanLogTail(this.#folders.logFile(name), maxBytes);
  }

  /** Supervises what an earlier agent started. A damaged definition is skipped: the agent writes it again. */
  async adopt(): Promise<void> {
    for (const name of await this.#names()) {
      const unit = await this.#readDefinition(name).catch(() => undefined);
      if (unit) await this.#supervisor.adopt(unit);
    }
  }

  /** Starts what starts at boot. */
  async startEnabled(): Promise<void> {
    for (const name of await this.#names()) {
      await this.#supervisor.states.remove(name);
      const starts = (await this.#exists(enabledFile(name))) && !(await this.#exists(maskedFile(name)));
      if (starts) await this.start(name).catch(() => undefined);
    }
  }

  async #names(): Promise<readonly string[]> {
    const found = await this.#files.list(UNIT_DIRECTORY);
    return found.filter((each) => each.endsWith('.json')).map((each) => each.slice(0, -'.json'.length));
  }

  async #exists(path: string): Promise<boolean> {
    return (await this.#files.stat(path)) !== undefined;
  }

  async #known(name: string): Promise<UnitDefinition> {
    const unit = await this.#readDefinition(name);
    if (unit) return unit;
    throw new HostError('UnitNotFound', `the host has no unit ${name}`, { where: name });
  }

  async #readDefinition(name: string): Promise<UnitDefinition | undefined> {
    const content = await this.#files.read(definitionFile(name));
    if (!content) return undefined;
    try {
      return JSON.parse(new TextDecoder().decode(content)) as UnitDefinition;
    } catch {
      throw new HostError('UnitNotFound', `the definition of unit ${name} is not JSON`, { where: name });
    }
  }
}

function requireSupported({ name, exec, raw, existing, dropIns }: UnitDefinition): void {
  if (exec && raw === undefined && !existing && dropIns.length === 0) return;
  throw new HostError('NotSupported', `a sandbox cannot run unit ${name}: it runs only units with exec`, {
    where: name,
    hint: 'use exec, without raw, existing and dropIns, or a machine with spec.host.type systemd',
  });
}

function definitionFile(unit: string): string {
  return `${UNIT_DIRECTORY}/${unit}.json`;
}

function enabledFile(unit: string): string {
  return `${UNIT_DIRECTORY}/${unit}.enabled`;
}

function maskedFile(unit: string): string {
  return `${UNIT_DIRECTORY}/${unit}.masked`;
}
