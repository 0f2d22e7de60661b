/** Builds the status of a MachineComponent: the conditions of its plan, which content it is, and who uses it. Pure. */
import type { MachineComponentStatus } from '../../api/generated/types.ts';
import { machineComponentPhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ComponentUseInput } from './observe.ts';

const MAX_SETS = 20;

export function componentStatus(
  { component: { metadata, spec, status }, use, now }: ComponentUseInput,
  plan: readonly ConditionUpdate[],
): MachineComponentStatus {
  const { generation, deletionTimestamp } = metadata;
  const conditions = withConditions(status?.conditions, plan, now, generation);
  return {
    ...optional('observedGeneration', generation),
    phase: machineComponentPhases.phaseOf({ conditions, deletionTimestamp }),
    conditions,
    digest: digestOf(spec),
    sets: use.sets.slice(0, MAX_SETS),
  };
}
