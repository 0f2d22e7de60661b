/** Reads from Machines how far their import is. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import type { ConditionType } from '../../../../api/names.ts';
import { type Condition, conditionOf } from '../../../../kube/objects/conditions.ts';
import { textAt } from '../../../../kube/objects/json.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { machineTrouble } from '../../../../views/machine/trouble.ts';

export interface MachineProgress {
  readonly machine: string;
  /** `user@address:port` */
  readonly host: string;
  /** Failed: it needs a person. Deleted: somebody deleted the Machine. */
  readonly state: 'Ready' | 'Importing' | 'Failed' | 'NotApplied' | 'Deleted';
  /** The reason of Progressing. */
  readonly step?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ImportProgress {
  readonly machines: readonly MachineProgress[];
}

export interface ExpectedMachine {
  readonly name: string;
  readonly host: string;
  /** Why it was not applied. */
  readonly refusal?: string;
}

export function importProgress(
  expected: readonly ExpectedMachine[],
  find: (name: string) => Machine | undefined,
): ImportProgress {
  return { machines: expected.map((each) => machineProgress(each, find(each.name))) };
}

function machineProgress(
  { name, host, refusal }: ExpectedMachine,
  machine: Machine | undefined,
): MachineProgress {
  const head = { machine: name, host };
  if (refusal !== undefined) return { ...head, state: 'NotApplied', reason: 'NotApplied', message: refusal };
  if (!machine) return { ...head, state: 'Deleted', reason: 'Deleted', message: 'the Machine was deleted' };
  return { ...head, ...stateOf(machine) };
}

function stateOf(machine: Machine): Omit<MachineProgress, 'machine' | 'host'> {
  const { conditions } = machine.status ?? {};
  if (isCurrent(machine, conditionOf(conditions, 'Ready'))) return { state: 'Ready', step: 'Ready' };
  const { reason, message } = machineTrouble(machine) ?? {};
  const step = conditionOf(conditions, 'Progressing')?.reason;
  return {
    state: hasFailed(machine) ? 'Failed' : 'Importing',
    ...optional('step', step),
    ...optional('reason', reason),
    ...optional('message', message),
  };
}

/** The conditions that an import which failed for good leaves False. */
const STEPS: readonly ConditionType[] = [
  'HostTrusted',
  'PreflightPassed',
  'AgentInstalled',
  'CertificateIssued',
];

function hasFailed(machine: Machine): boolean {
  const { conditions } = machine.status ?? {};
  if (isCurrent(machine, conditionOf(conditions, 'Stalled'))) return true;
  if (textAt(machine.status, 'import', 'failedAttempt') === undefined) return false;
  return STEPS.some((type) => {
    const condition = conditionOf(conditions, type);
    return condition?.status === 'False' && isOfThisSpec(machine, condition);
  });
}

/** A condition of an older spec tells nothing about what was just applied. */
function isCurrent(machine: Machine, condition: Condition | undefined): boolean {
  return condition?.status === 'True' && isOfThisSpec(machine, condition);
}

function isOfThisSpec({ metadata }: Machine, { observedGeneration }: Condition): boolean {
  return (observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Undefined: some are still being imported. */
export function importEnd({ machines }: ImportProgress): 'Ready' | 'Failed' | undefined {
  if (machines.some(({ state }) => state === 'Importing')) return undefined;
  return machines.every(({ state }) => state === 'Ready') ? 'Ready' : 'Failed';
}
