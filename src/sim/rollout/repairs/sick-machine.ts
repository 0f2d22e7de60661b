/** Describes a simulated host as repairs know it: its fault, what its agent knows of jobs, and the shutdown that was asked for. */

import type { JobsState } from '../../../agent/journal/jobs.ts';
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import type { PeopleContext } from '../people.ts';
import type { Breakage } from './breakage.ts';
import type { RepairJudge } from './judge/repair-judge.ts';
import type { SimulatedPower } from './power.ts';
import type { SimulatedFault } from './remediers.ts';

export interface Illness {
  readonly fault: SimulatedFault;
  /** The cure. Only people remove the cause of Person. */
  readonly cure: 'RestartService' | 'Reboot' | 'Alone' | 'Person';
  /** The time when the illness is over although nothing was done. */
  readonly endsMs: number;
}

export interface Patient {
  /** The UID of its Machine: another one of that name has another host. */
  readonly uid: string;
  illness: Illness | undefined;
  /** The journal on its disk, which survives a reboot. */
  journal: JobsState;
  /** The jobs that its watch last delivered. */
  jobs: readonly RemedyOperationJob[];
  /** The time when the host goes down. */
  rebootMs: number | undefined;
  /** The key of the step whose reboot is carried out. */
  rebootOf: string | undefined;
}

export interface RepairsContext extends PeopleContext {
  /** The patients by name of the machine. */
  readonly patients: Map<string, Patient>;
  readonly judge: RepairJudge;
  /** The power switches of a run in which kernels die. */
  readonly power: SimulatedPower | undefined;
  readonly broken: Breakage | undefined;
}

export function patientOf(
  { patients }: Pick<RepairsContext, 'patients'>,
  name: string,
  uid: string,
): Patient {
  const known = patients.get(name);
  if (known?.uid === uid) return known;
  const patient: Patient = {
    uid,
    illness: undefined,
    journal: new Map(),
    jobs: [],
    rebootMs: undefined,
    rebootOf: undefined,
  };
  patients.set(name, patient);
  return patient;
}
