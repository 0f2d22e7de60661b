/** Reads what a job has done to the power of its machine, by the records of its steps. Pure. */
import type {
  JobStep,
  JobStepPower,
  JobStepStatus,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { stepName, stepRecord } from '../../../api/status/step-records.ts';
import { type Step, stepInput, stepInputProblems } from '../../../api/steps/steps.ts';
import type { PowerWay } from '../../../providers/power.ts';

/** The power at the end of a step. Cycle: On, and Off before. */
export type PowerGoal = 'Off' | 'On' | 'Cycle';

const GOALS: Partial<Readonly<Record<Step, PowerGoal>>> = {
  PowerOff: 'Off',
  PowerOn: 'On',
  PowerCycle: 'Cycle',
  Reboot: 'Cycle',
};

export interface PowerStep {
  readonly goal: PowerGoal;
  /** The ways to the switch, in the order in which they are tried. */
  readonly ways: readonly PowerWay[];
  readonly confirm: boolean;
}

/** Returns what a step does to the power; undefined for a step without a way to a switch. */
export function powerStep(step: JobStep): PowerStep | undefined {
  const name = stepName(step);
  const goal = name && GOALS[name];
  if (!name || !goal) return undefined;
  const input = step.with ?? {};
  if (stepInputProblems(name, input).length > 0) return undefined;
  const { via, confirm } = stepInput(name, input) as PowerStepInput;
  const ways = via.filter(isPowerWay);
  return ways.length > 0 ? { goal, ways, confirm: confirm !== false } : undefined;
}

interface PowerStepInput {
  readonly via: readonly string[];
  readonly confirm?: boolean;
}

function isPowerWay(way: string): way is PowerWay {
  return way === 'Provider' || way === 'BMC';
}

export interface PowerRecord {
  readonly step: JobStep;
  readonly record: JobStepStatus;
  readonly power: JobStepPower;
}

/** Returns the last step of the job that read or switched the power. */
export function lastPower(job: RemedyOperationJob): PowerRecord | undefined {
  return [...job.spec.plan, ...job.spec.onVerified]
    .flatMap((step) => {
      const record = stepRecord(job, step.id);
      return record?.power ? [{ step, record, power: record.power }] : [];
    })
    .findLast(({ power }) => power.intendedAt !== undefined || power.offAt !== undefined);
}

/** Tells whether the machine was switched on by the job, or is about to be: from then on another boot is expected. */
export function isSwitchedOn({ power }: JobStepStatus): boolean {
  return power?.desired === 'On' && power.intendedAt !== undefined;
}

/** Returns the power of a machine that has booted after it was switched on: it is on. */
export function poweredOn({ power }: JobStepStatus, now: Date): JobStepPower | undefined {
  return power && { ...power, onAt: power.onAt ?? now.toISOString() };
}

/** Tells whether Off was requested, or is about to be, and was not read back: the machine may be off, or go off later. */
export function mayGoOff({ power }: JobStepStatus): boolean {
  return power?.desired === 'Off' && power.intendedAt !== undefined && power.offAt === undefined;
}
