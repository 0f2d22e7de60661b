/** Reports of a set for tests, as the planner and the Defender give them. */
import type { MachineComponentSetStatus } from '../../../../src/api/generated/types.ts';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import type { RolloutInput } from '../../../../src/controllers/componentset/rollout/input.ts';
import type { DeniedMachine, SetReport } from '../../../../src/controllers/componentset/status/report.ts';
import { componentSetStatus } from '../../../../src/controllers/componentset/status/status.ts';
import { type InputParts, inputOf } from '../rollout/rollout-input.ts';

export interface ReportParts extends Omit<InputParts, 'runs'> {
  readonly before?: Partial<MachineComponentSetStatus>;
  readonly denials?: SetReport['denials'];
  readonly conflicts?: SetReport['conflicts'];
  readonly runs?: SetReport['runs'];
  readonly dryRun?: boolean;
}

export function reportOf({
  before,
  denials = [],
  conflicts = [],
  runs = [],
  dryRun = false,
  ...parts
}: ReportParts): SetReport {
  const { set, ...rest } = inputOf(parts);
  const status = before && { conditions: [], ...before };
  const input: RolloutInput = {
    ...rest,
    set: {
      ...set,
      metadata: { ...set.metadata, generation: 7 },
      spec: { ...set.spec, dryRun },
      ...(status ? { status } : {}),
    },
  };
  return { input, plan: planRollout(input), denials, conflicts, runs };
}

export function statusOf(parts: ReportParts): MachineComponentSetStatus {
  return componentSetStatus(reportOf(parts));
}

/** `True AsWanted`: status and reason of a condition. */
export function read({ conditions }: MachineComponentSetStatus, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return found ? `${found.status} ${found.reason}` : 'missing';
}

export function message({ conditions }: MachineComponentSetStatus, type: string): string {
  return conditions.find((condition) => condition.type === type)?.message ?? 'missing';
}

export function denied(machine: string): DeniedMachine {
  return {
    machine,
    denial: {
      granted: false,
      reason: 'ConcurrencyPool',
      message: 'pool web: 3 machines in work, and at most 3 allowed by limit pools',
      policy: 'fleet-default',
      used: 3,
      limit: 3,
      also: [],
    },
  };
}
