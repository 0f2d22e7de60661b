/** Finds the machines that were repaired most, which a person looks at: a part of them is about to fail for good. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';

export interface WorstMachine {
  readonly machine: string;
  readonly repairs: number;
}

export const WORST_MACHINES = 10;
const DAYS = 7;
/** One repair is what kubenode is for. */
const NOTABLE = 2;

/** Returns at most ten, the worst first. The status of a machine has its last ten repairs. */
export function worstMachines(machines: readonly Machine[], now: Date): readonly WorstMachine[] {
  const sinceMs = now.getTime() - DAYS * 86_400_000;
  return machines
    .map((machine) => ({ machine: machine.metadata.name, repairs: repairsSince(machine, sinceMs) }))
    .filter(({ repairs }) => repairs >= NOTABLE)
    .toSorted((a, b) => b.repairs - a.repairs || byCode(a.machine, b.machine))
    .slice(0, WORST_MACHINES);
}

/** Counts what the Defender counts: a job without a risk has disturbed nothing. */
function repairsSince({ status }: Machine, sinceMs: number): number {
  const recent = status?.repairs?.recent ?? [];
  return recent.filter(({ at, risk = 'None' }) => risk !== 'None' && Date.parse(at ?? '') >= sinceMs).length;
}
