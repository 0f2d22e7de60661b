/** Tells whether the holder of a grant still acts, by its object in the API server. Pure. */
import type { LedgerHolder, Machine, RemedyOperationJob } from '../../api/generated/types.ts';
import { isComponentEnded, isEndedJob } from './live-grants.ts';

/** Active: its object is there and not at its end. Unknown: the objects of its kind were not read. */
export type HolderState = 'Active' | 'Ended' | 'NotFound' | 'Unknown';

export interface HolderObjects {
  readonly job: (name: string) => RemedyOperationJob | undefined;
  readonly machine: (name: string) => Machine | undefined;
}

/** Other holders are people and tools: only they, or a person, know whether their act is over. */
export function holderState(
  objects: HolderObjects,
  machineName: string,
  { kind, name }: LedgerHolder,
): HolderState {
  if (kind === 'RemedyOperationJob') return jobState(objects.job(name));
  if (kind === 'Cluster' || kind === 'Other') return 'Unknown';
  const machine = objects.machine(machineName);
  if (!machine) return 'NotFound';
  if (kind === 'MachineSet') return 'Active';
  return componentState(machine, kind === 'Machine' ? undefined : name);
}

function jobState(job: RemedyOperationJob | undefined): HolderState {
  if (!job) return 'NotFound';
  return isEndedJob(job) ? 'Ended' : 'Active';
}

/** Active until the agent reports the end of each granted entry; a machine also while it is drained. */
function componentState(machine: Machine, set: string | undefined): HolderState {
  const own = machine.spec.components.filter(({ assignment }) => assignment?.set === set);
  const isActive =
    own.some((entry) => entry.grant !== undefined && !isComponentEnded(machine, entry)) ||
    (set === undefined && machine.status?.drain?.state !== undefined);
  return isActive ? 'Active' : 'Ended';
}
