/** Decides whether an agent can use a MachineComponent, whether it is in use, and whether it is yanked. Pure. */
import type { MachineComponent } from '../../api/generated/types.ts';
import { componentProblems } from '../../api/machine/component-problems.ts';
import { ANNOTATION_YANKED } from '../../api/names.ts';
import { acceptedFinding } from '../../api/status/accepted.ts';
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import type { ComponentUseInput, ComponentUsers } from './observe.ts';

export function planComponentUse({ component, use }: ComponentUseInput): readonly ConditionUpdate[] {
  return [accepted(component), inUse(use), yanked(component)];
}

function accepted(component: MachineComponent): ConditionUpdate {
  const problems = componentProblems(component.spec);
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
