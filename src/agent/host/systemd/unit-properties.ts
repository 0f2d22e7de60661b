/** Reads what `systemctl show` and `systemctl list-unit-files` print about units. Pure. */
import { constants } from 'node:os';
import { optional } from '../../../kube/objects/optional.ts';
import type { UnitDefinition, UnitStatus } from '../port.ts';

export const PROPERTIES = [
  'Id',
  'LoadState',
  'ActiveState',
  'NeedDaemonReload',
  'MainPID',
  'ExecMainStartTimestamp',
  'InactiveEnterTimestamp',
  'ExecMainCode',
  'ExecMainStatus',
  'FragmentPath',
  'NRestarts',
  'Result',
] as const;

export interface UnitProperties {
  /** Whether systemd has a definition, or a process of one that was removed. */
  readonly exists: boolean;
  readonly active: UnitStatus['active'];
  /** Whether the files were changed, and systemd has not read them since. */
  readonly needsReload: boolean;
  /** The state on the disk: enabled, disabled, static, masked. Undefined: the host has no file of the unit. */
  readonly fileState?: string;
  /** The file that systemd has read the definition from. */
  readonly definitionPath?: string;
  readonly mainPid?: number;
  readonly startedAt?: string;
  /** The time when it stopped, or failed, last. */
  readonly endedAt?: string;
  readonly restarts: number;
  /** The exit code or signal with which the last run ended. */
  readonly exit?: string;
  /** The reason why systemd ended the last run, such as timeout. */
  readonly reason: string;
}

const ACTIVE: Readonly<Record<string, UnitStatus['active']>> = {
  active: 'Active',
  reloading: 'Active',
  refreshing: 'Active',
  activating: 'Activating',
  deactivating: 'Deactivating',
  failed: 'Failed',
};

/** Parses units by their full name. The blocks of `systemctl show` are separated by empty lines. */
export function parseUnits(shown: string, unitFiles: string): ReadonlyMap<string, UnitProperties> {
  const states = new Map(parseUnitFiles(unitFiles).map(({ unit_file, state }) => [unit_file, state]));
  const blocks = shown.split('\n\n').map(parseProperties);
  return new Map(
    blocks.flatMap((block) => {
      const id = block.get('Id');
      return id === undefined ? [] : [[id, toUnitProperties(block, states.get(id))] as const];
    }),
  );
}

interface UnitFileState {
  readonly unit_file: string;
  readonly state: string;
}

function parseUnitFiles(text: string): readonly UnitFileState[] {
  return text.trim().startsWith('[') ? (JSON.parse(text) as UnitFileState[]) : parseUnitTable(text);
}

/** Parses the table that systemd before 247 prints whatever format it is asked for. Its other lines name no service. */
function parseUnitTable(text: string): readonly UnitFileState[] {
  const lines = text.matchAll(/^(?<file>\S+\.service)\s+(?<state>\S+)/gm);
  return [...lines].map(({ groups = {} }) => ({
    unit_file: groups['file'] ?? '',
    state: groups['state'] ?? '',
  }));
}

export function parseProperties(block: string): ReadonlyMap<string, string> {
  const lines = block.split('\n').filter((line) => line.includes('='));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

function toUnitProperties(block: ReadonlyMap<string, string>, fileState: string | undefined): UnitProperties {
  const read = (name: (typeof PROPERTIES)[number]): string => block.get(name) ?? '';
  const active = ACTIVE[read('ActiveState')] ?? 'Inactive';
  const mainPid = Number(read('MainPID'));
  return {
    exists: read('LoadState') !== 'not-found' || active === 'Active' || fileState !== undefined,
    active,
    needsReload: read('NeedDaemonReload') === 'yes',
    restarts: Number(read('NRestarts')),
    reason: read('Result'),
    ...optional('fileState', fileState),
    ...(mainPid > 0 && { mainPid }),
    ...(read('FragmentPath') !== '' && { definitionPath: read('FragmentPath') }),
    ...optional('startedAt', parseTimestamp(read('ExecMainStartTimestamp'))),
    ...optional('endedAt', parseTimestamp(read('InactiveEnterTimestamp'))),
    ...optional('exit', exitText(Number(read('ExecMainCode')), Number(read('ExecMainStatus')))),
  };
}

/** Parses a time such as `Sat 2026-11-21 07:27:23 UTC`; the text is empty for what never happened. */
export function parseTimestamp(text: string): string | undefined {
  const found = /(?<date>\d{4}-\d\d-\d\d) (?<time>\d\d:\d\d:\d\d) UTC$/.exec(text)?.groups;
  return found && new Date(`${found['date']}T${found['time']}Z`).toISOString();
}

/** The code CLD_EXITED; every other code is a signal. */
const EXITED = 1;

function exitText(code: number, status: number): string | undefined {
  if (code === 0) return undefined;
  if (code === EXITED) return `exit code ${status}`;
  const name = Object.entries(constants.signals).find(([, number]) => number === status)?.[0];
  return name ?? `signal ${status}`;
}

/** Returns what people read about a run that ended. */
export function resultText(
  { exit, reason }: UnitProperties,
  { type, timeoutSeconds }: Pick<UnitDefinition, 'type' | 'timeoutSeconds'>,
): string | undefined {
  if (reason === 'timeout' && type === 'OneShot') return `no end within ${timeoutSeconds} s`;
  return exit ?? (reason === 'success' || reason === '' ? undefined : reason);
}
