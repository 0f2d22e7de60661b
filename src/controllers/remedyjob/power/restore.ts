/**
 * Decides at the end of a job whether the machine has to be switched on again: a power cycle is never left half done, and a PowerOff is
 * taken back where its plan was about to do so, or where the job takes back all that it changed. This returns the machine to service, and so needs no grant. Pure.
 */
import type { JobStepPower } from '../../../api/generated/types.ts';
import { stepName } from '../../../api/status/step-records.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import type { PowerState } from '../../../providers/power.ts';
import type { JobInput } from '../observe/observe.ts';
import { type PowerMove, planPower } from './plan-power.ts';
import { lastPower, type PowerRecord } from './power-records.ts';

/** Power changes late: a machine that still reads On so long after a request for Off stays on. */
const LATE_MS = 120_000;
/** A switch that does not answer for this long, or does not obey, is left to a person. */
const GIVE_UP_MS = 15 * 60_000;

/** Returns the step that left the machine off, or may have. Undefined: it is on, or is to stay off. */
export function powerToRestore({ job, machine }: JobInput, isUndone: boolean): PowerRecord | undefined {
  const last = lastPower(job);
  if (!last || machine?.metadata.uid !== job.spec.machine.uid) return undefined;
  if (!isLeftByUs(last)) return undefined;
  return isUndone || !isToStayOff(job, last) ? last : undefined;
}

/** Tells whether the job has left the machine off: one that was off before is not ours to switch on. */
function isLeftByUs({ power: { intendedAt, onAt, givenUpAt } }: PowerRecord): boolean {
  return intendedAt !== undefined && onAt === undefined && givenUpAt === undefined;
}

/** A plan that switches off, and does not switch on again, leaves the machine to a person. */
function isToStayOff({ spec }: JobInput['job'], { step }: PowerRecord): boolean {
  const after = spec.plan.slice(spec.plan.findIndex(({ id }) => id === step.id));
  return stepName(step) === 'PowerOff' && !after.some((each) => stepName(each) === 'PowerOn');
}

export function isRestoreOverdue({ job, now }: JobInput): boolean {
  const settling = conditionOf(job.status?.conditions, 'Settled');
  const sinceMs = Date.parse(settling?.lastTransitionTime ?? '');
  return sinceMs + GIVE_UP_MS <= now.getTime();
}

export function planRestore(power: JobStepPower, state: PowerState, now: Date): PowerMove {
  const { way, desired, offAt } = power;
  if (desired === 'On') {
    return planPower({ goal: 'On', confirm: true, way, power, state, booted: undefined, now });
  }
  const at = now.toISOString();
  if (state === 'Off' || offAt !== undefined) {
    const { acceptedAt: _, ...kept } = power;
    const next = { ...kept, desired: 'On', intendedAt: at, offAt: offAt ?? at } as const;
    return { type: 'Record', power: next, because: `On is requested next: ${way} reads ${state}` };
  }
  if (state === 'On' && isLate(power, now)) {
    return { type: 'Done', power: { ...power, onAt: at }, because: `${way} still reads On` };
  }
  return { type: 'Wait', for: 'Power', because: `${way} reads ${state}, and Off was requested` };
}

function isLate({ acceptedAt, intendedAt }: JobStepPower, now: Date): boolean {
  const at = acceptedAt ?? intendedAt;
  return at !== undefined && Date.parse(at) + LATE_MS <= now.getTime();
}
