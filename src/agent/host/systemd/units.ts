/**
 * Units of a real host. Definitions and drop-ins are files in /etc/systemd/system; everything else is asked of systemd.
 * What the host had under the name of a unit comes back when the unit is removed.
 */
import { optional } from '../../../kube/objects/optional.ts';
import { HostError } from '../errors.ts';
import { cleanLogTail } from '../log-tail.ts';
import type { HostFiles, HostUnits, UnitDefinition, UnitStatus } from '../port.ts';
import { type CommandAnswer, failureText, type RunCommand } from './commands.ts';
import { dependentServices } from './dependents.ts';
import { execDifference } from './exec-difference.ts';
import { UnitDefinitions } from './unit-definitions.ts';
import { unitName } from './unit-files.ts';
import { createUnitEvidenceReader, type UnitEvidenceReader } from './unit-journal.ts';
import type { UnitProcessReader } from './unit-process.ts';
import { resultText, type UnitProperties } from './unit-properties.ts';
import type { UnitReader } from './unit-reader.ts';

interface SystemdUnitsOptions {
  readonly files: HostFiles;
  readonly run: RunCommand;
  readonly reader: UnitReader;
  readonly processOf: UnitProcessReader;
}

const LOG_LINES = 200;
const ENABLED = ['enabled', 'alias'];

export class SystemdUnits implements HostUnits {
  readonly #run: RunCommand;
  readonly #reader: UnitReader;
  readonly #processOf: UnitProcessReader;
  readonly #definitions: UnitDefinitions;
  readonly #evidenceOf: UnitEvidenceReader;

  constructor({ files, run, reader, processOf }: SystemdUnitsOptions) {
    this.#run = run;
    this.#reader = reader;
    this.#processOf = processOf;
    this.#definitions = new UnitDefinitions(files);
    this.#evidenceOf = createUnitEvidenceReader(run);
  }

  async status(unit: UnitDefinition): Promise<UnitStatus | undefined> {
    const found = await this.#reader.read(unit.name);
    if (!found) return undefined;
    const process = await this.#processOf(unit, found);
    const defined = !found.needsReload && (await this.#definitions.isWritten(unit));
    return {
      defined,
      enabled: isEnabled(found),
      masked: isMasked(found),
      active: found.active,
      restarts: found.restarts,
      ...optional('process', process),
      ...(process && !defined ? await this.#hostDifference(unit, found, process.pid) : {}),
      ...(process ? {} : await this.#ended(unit, found)),
    };
  }

  async #hostDifference(
    unit: UnitDefinition,
    { definitionPath }: UnitProperties,
    pid: number,
  ): Promise<Pick<UnitStatus, 'hostDifference'>> {
    const ofFiles = await this.#definitions.hostDifference(unit, definitionPath);
    return optional('hostDifference', ofFiles ?? (unit.exec && (await execDifference(pid, unit.exec))));
  }

  async #ended(
    unit: UnitDefinition,
    found: UnitProperties,
  ): Promise<Pick<UnitStatus, 'result' | 'evidence'>> {
    const isMissed = unit.running && (found.active === 'Failed' || found.active === 'Inactive');
    return {
      ...optional('result', resultText(found, unit)),
      ...optional('evidence', isMissed ? await this.#evidenceOf(unit.name, found) : undefined),
    };
  }

  async write(unit: UnitDefinition): Promise<void> {
    const { name, existing } = unit;
    this.#reader.forget();
    const found = await this.#reader.read(name);
    if (existing && !found) throw notFound(name, 'install it before the component, or give exec or raw');
    const isChanged = await this.#definitions.write(unit, found && stateOf(found));
    if (isChanged || found?.needsReload !== false) await this.#reload();
  }

  async remove(unit: UnitDefinition): Promise<void> {
    const { name, existing } = unit;
    this.#reader.forget();
    const original = await this.#definitions.original(name);
    if (!original) return;
    // The unit that the host had, once it was put back, runs and stays enabled.
    if (!existing && !(await this.#definitions.isRemoved(name, original))) await this.#disable(unit);
    await this.#definitions.remove(unit, original);
    await this.#reload();
    await this.#systemctl('reset-failed', name);
    if (original.state) await this.#restore(name, original.state);
    await this.#definitions.forget(name);
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const found = await this.#known(name);
    if (isMasked(found)) await this.#unmask(name, found);
    const answer = await this.#systemctl(enabled ? 'enable' : 'disable', name);
    if (answer.exitCode !== 0) throw notFound(name, failureText(answer));
    if (!enabled || isEnabled(await this.#known(name))) return;
    throw new HostError('NotSupported', `unit ${name} cannot be enabled: it has no section [Install]`, {
      where: name,
      hint: 'add WantedBy=multi-user.target to [Install] in raw or dropIns, or set enabled: false',
    });
  }

  async start(name: string): Promise<void> {
    const found = await this.#known(name);
    if (isMasked(found)) throw new HostError('UnitFailed', `unit ${name} is masked`, { where: name });
    if (found.active === 'Active') return;
    // Also sets back the limit of starts, which counts those of the agent.
    await this.#systemctl('reset-failed', name);
    const answer = await this.#systemctl('start', name);
    if (answer.exitCode === 0) return;
    const result = startResult(await this.#reader.read(name)) ?? failureText(answer);
    throw new HostError('UnitFailed', `unit ${name} failed: ${result}`, {
      where: name,
      hint: `read its log: journalctl -u ${name}`,
    });
  }

  async stop(name: string): Promise<void> {
    // A unit of the host is stopped before its files are written.
    await this.#definitions.note(name, stateOf(await this.#known(name)));
    await this.#noteDependents(name);
    const answer = await this.#systemctl('stop', name);
    const after = await this.#reader.read(name);
    if (after && isRunning(after)) {
      throw new HostError('NotStopped', `unit ${name} did not stop: ${failureText(answer)}`, { where: name });
    }
    if (after?.active === 'Failed') await this.#systemctl('reset-failed', name);
  }

  async reload(name: string): Promise<void> {
    const found = await this.#known(name);
    if (found.active !== 'Active') return;
    const answer = await this.#systemctl('reload', name);
    if (answer.exitCode === 0) return;
    throw new HostError('UnitFailed', `unit ${name} could not be reloaded: ${failureText(answer)}`, {
      where: name,
    });
  }

  async logTail(name: string, maxBytes: number): Promise<string> {
    const argv = ['journalctl', '--quiet', '--no-pager', '--output=cat', `--lines=${LOG_LINES}`];
    const { stdout } = await this.#run([...argv, `--unit=${unitName(name)}`]);
    return cleanLogTail(Buffer.from(stdout), maxBytes);
  }

  /** Notes the services that systemd stops with this one. */
  async #noteDependents(name: string): Promise<void> {
    for (const dependent of await dependentServices(this.#run, name)) {
      const found = await this.#reader.read(dependent);
      if (found && isRunning(found)) await this.#definitions.noteDependent(dependent, stateOf(found));
    }
  }

  async #disable(unit: UnitDefinition): Promise<void> {
    const { name } = unit;
    const found = await this.#reader.read(name);
    if (found && isRunning(found)) {
      throw new HostError('UnitFailed', `unit ${name} still runs`, { where: name });
    }
    // systemctl leaves the links of a unit that a person masked, or whose file was removed.
    await this.write(unit);
    await this.#systemctl('disable', name);
  }

  async #restore(name: string, { enabled, running }: { enabled: boolean; running: boolean }): Promise<void> {
    await this.setEnabled(name, enabled);
    if (running) await this.start(name);
  }

  /** A mask until the next boot is another link. */
  async #unmask(name: string, { fileState }: UnitProperties): Promise<void> {
    await this.#systemctl('unmask', name, fileState === 'masked-runtime' ? ['--runtime'] : []);
  }

  async #known(name: string): Promise<UnitProperties> {
    this.#reader.forget();
    const found = await this.#reader.read(name);
    if (found) return found;
    throw notFound(name);
  }

  async #reload(): Promise<void> {
    const answer = await this.#run(['systemctl', 'daemon-reload']);
    this.#reader.forget();
    if (answer.exitCode === 0) return;
    throw new HostError('NoAccess', `systemd did not reload: ${failureText(answer)}`, { where: 'systemctl' });
  }

  async #systemctl(verb: string, name: string, options: readonly string[] = []): Promise<CommandAnswer> {
    const answer = await this.#run([
      'systemctl',
      '--quiet',
      '--no-ask-password',
      ...options,
      verb,
      '--',
      unitName(name),
    ]);
    this.#reader.forget();
    return answer;
  }
}

function startResult(found: UnitProperties | undefined): string | undefined {
  if (found?.reason === 'timeout') return 'it took too long';
  return found && resultText(found, { type: 'Service', timeoutSeconds: 0 });
}

function isEnabled({ fileState = '' }: UnitProperties): boolean {
  return ENABLED.includes(fileState);
}

function isMasked({ fileState = '' }: UnitProperties): boolean {
  return fileState.startsWith('masked');
}

function isRunning({ active }: UnitProperties): boolean {
  return active !== 'Inactive' && active !== 'Failed';
}

function stateOf(found: UnitProperties): { readonly enabled: boolean; readonly running: boolean } {
  return { enabled: isEnabled(found), running: isRunning(found) };
}

function notFound(name: string, hint?: string): HostError {
  return new HostError('UnitNotFound', `the host has no unit ${name}`, {
    where: name,
    ...optional('hint', hint),
  });
}
