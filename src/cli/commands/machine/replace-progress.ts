/** Describes how far the replacement of a machine is, by the Machine and its set as they are now. Pure. */
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { followedObject, followedText, isFollowed } from '../../../providers/followed.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface ReplacementProgress {
  readonly isDone: boolean;
  readonly text: string;
}

/** Returns the name of the set that can replace the machine. */
export function replaceableSet(machine: Machine, now: Date): string {
  const { name, ownerReferences = [] } = machine.metadata;
  const owner = ownerReferences.find(({ kind, controller }) => kind === 'MachineSet' && controller);
  if (!owner) {
    throw new CliError(`Machine ${name} belongs to no MachineSet: nothing would take its place`, {
      hint: isFollowed(machine)
        ? `delete ${ownerText(machine)}: the system that owns it makes another one`
        : `import or join another host, then delete this one: kubectl delete machines.kubenode.dev ${name}`,
      exitCode: EXIT.badInput,
    });
  }
  const hold = holdInForce(machine, undefined, now);
  if (hold) {
    throw new CliError(`Machine ${name} is held: ${hold.reason}`, {
      hint: `release it first: kubenode machine release ${name}`,
      exitCode: EXIT.badInput,
    });
  }
  return owner.name;
}

function ownerText(machine: Machine): string {
  const object = followedObject(machine);
  return object ? followedText(object) : 'its machine in the other system';
}

/** `machine` is undefined when the Machine with this UID does not exist any more. */
export function replacementProgress(
  machine: Machine | undefined,
  set: MachineSet | undefined,
): ReplacementProgress {
  if (!set) return { isDone: machine === undefined, text: 'the MachineSet does not exist any more' };
  if (!machine) return afterDeletion(set);
  return { isDone: false, text: isDeleting(machine) ? deletionText(machine) : setText(machine, set) };
}

function afterDeletion(set: MachineSet): ReplacementProgress {
  const isDone = (set.status?.availableReplicas ?? 0) >= set.spec.replicas;
  return { isDone, text: `the machine was deleted; ${countsText(set)}` };
}

function isDeleting({ metadata }: Machine): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function deletionText(machine: Machine): string {
  return `the machine is being deleted: ${waitText(machine)}`;
}

function setText({ metadata: { name } }: Machine, set: MachineSet): string {
  const { plannedAction, waiting } = set.status ?? {};
  if (waiting) return `${waiting.reason}: ${waiting.message ?? ''}`;
  if (plannedAction?.names?.includes(name)) return plannedAction.because ?? countsText(set);
  return `waits for its turn; ${countsText(set)}`;
}

function countsText({ spec, status }: MachineSet): string {
  return `${status?.availableReplicas ?? 0} of ${spec.replicas} machines are available`;
}

function waitText({ status }: Machine): string {
  const { waiting } = status ?? {};
  if (waiting) return `${waiting.reason}: ${waiting.message ?? ''}`;
  return conditionOf(status?.conditions, 'Progressing')?.message ?? 'in work';
}
