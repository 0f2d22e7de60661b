/** In which order the machines of a set get a revision. Pure. */
import type { Rollout } from '../../api/generated/types.ts';
import { byCode, digestOf } from '../../kube/objects/digest.ts';

export interface WaitingMachine {
  readonly uid: string;
  /** Its Node is Ready, and serves. */
  readonly isAvailable: boolean;
}

/**
 * The same order in each reconcile and in each process, and another one for each revision, so that no machine is always the first.
 * One that does not serve goes first where the set permits it: the change may be its cure.
 */
export function inOrder<T extends WaitingMachine>(
  machines: readonly T[],
  revision: string,
  { preferUnhealthy }: Pick<Rollout, 'preferUnhealthy'>,
): readonly T[] {
  return machines
    .map((machine) => ({
      machine,
      rank: Number(preferUnhealthy && machine.isAvailable),
      hash: digestOf([revision, machine.uid]),
    }))
    .toSorted((a, b) => a.rank - b.rank || byCode(a.hash, b.hash))
    .map(({ machine }) => machine);
}
