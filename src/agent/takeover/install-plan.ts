/** Decides what is left to do until a host has the program and the unit of the agent. The record comes first. Pure. */

import { optional } from '../../kube/objects/optional.ts';
import type { UnitStatus } from '../host/port.ts';
import type { AgentUnitOptions } from '../install/own-unit.ts';
import { AGENT_PROGRAM_LINK } from '../layout.ts';
import { type ImportRecord, type MachineOwner, mergeOwner } from './record.ts';

export interface InstallInput {
  readonly owner: MachineOwner;
  readonly version: string;
  /** The unit to write. It is missing on a host without systemd, which gets the record only. */
  readonly unit?: AgentUnitOptions;
  readonly keepsProgram: boolean;
  readonly observed: InstallObservation;
  readonly now: Date;
}

export interface InstallObservation {
  readonly record?: ImportRecord;
  /** The directories of others that are missing now. */
  readonly missing: readonly string[];
  /** The paths that are there now, of what components may make and a release removes again. */
  readonly present: readonly string[];
  /** Whether the program at its path is the one to install. */
  readonly hasProgram: boolean;
  /** The program behind the link that the unit starts; missing without a link, or when the link leads nowhere. */
  readonly linked?: string;
  readonly unitStatus?: Pick<UnitStatus, 'defined' | 'enabled' | 'active'>;
  /** Whether the agent has what it needs to reach its API server: a certificate, or a file to join with. */
  readonly canConnect: boolean;
}

export type InstallAction = InstallOperation & { readonly because: string };

type InstallOperation =
  | { readonly type: 'WriteRecord'; readonly record: ImportRecord }
  | { readonly type: 'CopyProgram'; readonly to: string }
  | { readonly type: 'LinkProgram'; readonly to: string }
  | { readonly type: 'WriteUnit'; readonly unit: AgentUnitOptions }
  | { readonly type: 'EnableUnit' | 'StartUnit' | 'StopUnit' };

export function planInstall(input: InstallInput): readonly InstallAction[] {
  const { unit } = input;
  return [
    ...recordActions(input),
    // An agent that runs stops before its files are replaced: a repeat after a kill in between would not know that it runs the old ones.
    ...(unit
      ? [...stopActions(input, unit), ...programActions(input, unit), ...unitActions(input, unit)]
      : []),
  ];
}

function recordActions(input: InstallInput): readonly InstallAction[] {
  const before = input.observed.record;
  const record = importRecord(input);
  if (before && JSON.stringify(before) === JSON.stringify(record)) return [];
  const because = before ? 'another program or unit is installed' : 'recorded before anything is changed';
  return [{ type: 'WriteRecord', record, because }];
}

/** Returns the record. The directories that were missing at the first time are never judged again. */
function importRecord({ owner, version, unit, keepsProgram, observed, now }: InstallInput): ImportRecord {
  const { record: before, missing, present } = observed;
  return {
    ...mergeOwner(before, owner),
    at: before?.at ?? now.toISOString(),
    version,
    created: before?.created ?? missing,
    ...optional('before', before ? before.before : present),
    ...(unit && { unit }),
    ...optional('registries', before?.registries),
    keepsProgram,
  };
}

function programActions({ observed }: InstallInput, { program }: AgentUnitOptions): readonly InstallAction[] {
  const { hasProgram, linked } = observed;
  return [
    ...(hasProgram
      ? []
      : [{ type: 'CopyProgram', to: program, because: `${program} is not this program` } as const]),
    // A version that an upgrade of the agent brought stays.
    ...(linked === undefined
      ? [{ type: 'LinkProgram', to: program, because: `${AGENT_PROGRAM_LINK} is missing` } as const]
      : []),
  ];
}

const ACTIVE: readonly UnitStatus['active'][] = ['Active', 'Activating'];
const MISSING_UNIT = { defined: false, enabled: false, active: 'Inactive' } as const;

function unitActions({ observed }: InstallInput, unit: AgentUnitOptions): readonly InstallAction[] {
  const { defined, enabled } = observed.unitStatus ?? MISSING_UNIT;
  const actions: InstallAction[] = [];
  if (!defined) actions.push({ type: 'WriteUnit', unit, because: 'the unit has another definition' });
  if (!defined || !enabled) {
    actions.push({ type: 'EnableUnit', because: 'the unit does not start at boot' });
  }
  const starts = observed.canConnect && (isOutdated(observed, unit) || !isActive(observed));
  if (starts) actions.push({ type: 'StartUnit', because: 'the agent can reach its API server' });
  return actions;
}

function stopActions({ observed }: InstallInput, unit: AgentUnitOptions): readonly InstallAction[] {
  return isOutdated(observed, unit)
    ? [{ type: 'StopUnit', because: 'the unit runs what was there before' }]
    : [];
}

function isActive({ unitStatus = MISSING_UNIT }: InstallObservation): boolean {
  return ACTIVE.includes(unitStatus.active);
}

function isOutdated(observed: InstallObservation, unit: AgentUnitOptions): boolean {
  const { defined } = observed.unitStatus ?? MISSING_UNIT;
  return isActive(observed) && (!defined || isProgramReplaced(observed, unit));
}

function isProgramReplaced(
  { hasProgram, linked }: InstallObservation,
  { program }: AgentUnitOptions,
): boolean {
  return !hasProgram && (linked === undefined || linked === program);
}
