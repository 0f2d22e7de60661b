/** The status of a MachineComponent: whether an agent can use it, which content it is, and who uses it. Pure. */
import type { MachineComponent, MachineComponentStatus } from '../../api/generated/types.ts';
import { inactiveFields } from '../../api/inactive/find.ts';
import { componentProblems } from '../../api/machine/component-problems.ts';
import { ANNOTATION_YANKED } from '../../api/names.ts';
import { acceptedFinding } from '../../api/status/accepted.ts';
import { machineComponentPhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface ComponentUsers {
  /** Sets that assign this version. */
  readonly sets: readonly string[];
  /** A machine that has it, where no set does. */
  readonly machine?: string | undefined;
}

export interface UsedComponent {
  readonly component: MachineComponent;
  readonly use: ComponentUsers;
  readonly now: Date;
}

const MAX_SETS = 20;

export function componentStatus({ component, use, now }: UsedComponent): MachineComponentStatus {
  const { metadata, spec, status } = component;
  const observedGeneration = optional('observedGeneration', metadata.generation);
  const findings = [accepted(component), inUse(use), yanked(component)];
  const conditions = withConditions(status?.conditions, findings, now, metadata.generation);
  const { deletionTimestamp } = metadata;
  return {
    ...observedGeneration,
    phase: machineComponentPhases.phaseOf({ conditions, deletionTimestamp }),
    conditions,
    digest: digestOf(spec),
    sets: use.sets.slice(0, MAX_SETS),
  };
}

function accepted(component: MachineComponent): ConditionUpdate {
  const problems = [...componentProblems(component.spec), ...inactiveFields(component)];
  const valid = 'every placeholder is known, and no paths or ports exclude each other';
  return acceptedFinding({ what: 'component', metadata: component.metadata, problems, valid });
}

function inUse({ sets, machine }: ComponentUsers): ConditionUpdate {
  const type = 'InUse';
  const [set] = sets;
  if (set !== undefined) {
    const more = sets.length > 1 ? ` and ${sets.length - 1} more` : '';
    return {
      type,
      status: 'True',
      reason: 'Assigned',
      message: `assigned by MachineComponentSet ${set}${more}`,
    };
  }
  if (machine !== undefined) {
    return { type, status: 'True', reason: 'OnMachines', message: `an entry of Machine ${machine} names it` };
  }
  return { type, status: 'False', reason: 'NotUsed', message: 'no set and no machine names it' };
}

function yanked({ metadata }: MachineComponent): ConditionUpdate {
  const type = 'Yanked';
  const why = metadata.annotations?.[ANNOTATION_YANKED];
  if (why === undefined) {
    return { type, status: 'False', reason: 'AsWanted', message: 'it may be rolled out' };
  }
  const message = `new rollouts refuse it, and machines that run it keep it: ${why}`;
  return { type, status: 'True', reason: 'Yanked', message };
}
