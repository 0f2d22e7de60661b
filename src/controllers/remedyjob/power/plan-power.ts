/**
 * Decides the next act of a step that switches the power of a machine, by its record and by what the switch reads now. A request is
 * recorded before it is sent, and repeated only while the switch still reads the other state; On follows Off only when Off was read
 * back. So a crash at any line leads to no second power cycle. Pure.
 */
import type { JobStepPower } from '../../../api/generated/types.ts';
import type { PowerState, PowerWay } from '../../../providers/power.ts';
import type { PowerStep } from './power-records.ts';

export interface PowerInput extends Omit<PowerStep, 'ways'> {
  readonly way: PowerWay;
  readonly power: JobStepPower | undefined;
  readonly state: PowerState;
  /** The boot ID that the Node reports, if it is another one than before the step. */
  readonly booted: string | undefined;
  readonly now: Date;
}

export type PowerMove = { readonly because: string } & (
  | { readonly type: 'Record' | 'Done'; readonly power: JobStepPower }
  | { readonly type: 'Request'; readonly power: JobStepPower }
  | { readonly type: 'Wait'; readonly for: 'Power' | 'Boot' }
);

/** A switch that accepted On, and still reads Off after this time, is asked again. */
const REPEAT_ON_MS = 30_000;

export function planPower(input: PowerInput): PowerMove {
  const { power } = input;
  if (power?.intendedAt === undefined) return planFirst(input);
  return power.desired === 'Off' ? planOff(input, power) : planOn(input, power);
}

/** Plans before anything was requested. What is already so needs no request, and is not our doing. */
function planFirst(input: PowerInput): PowerMove {
  const { goal, state, now } = input;
  if (state !== 'On' && state !== 'Off') return waitForSwitch(input);
  const at = now.toISOString();
  if (goal === 'On') return state === 'On' ? done(input, { onAt: at }) : intend(input, 'On', {});
  if (state === 'On') return intend(input, 'Off', {});
  const because = `${input.way} reads Off: it was off before`;
  if (goal === 'Cycle') return { ...intend(input, 'On', { offAt: at }), because };
  return { type: 'Done', power: { ...base(input), desired: 'Off', offAt: at }, because };
}

function planOff(input: PowerInput, power: JobStepPower): PowerMove {
  const { goal, state, now, way, confirm } = input;
  const at = now.toISOString();
  if (state === 'Off' && goal === 'Cycle') return intend(input, 'On', { offAt: at });
  if (state === 'Off') return done(input, { ...power, offAt: at });
  if (power.acceptedAt !== undefined) {
    if (goal === 'Off' && !confirm) return done(input, power);
    return wait('Power', `${way} has accepted Off at ${power.acceptedAt}, and reads ${state}`);
  }
  return state === 'On' ? { type: 'Request', power, because: `${way} reads On` } : waitForSwitch(input);
}

function planOn(input: PowerInput, power: JobStepPower): PowerMove {
  const { goal, state, now, booted } = input;
  const { onAt = now.toISOString() } = power;
  // Whatever the switch reads.
  if (booted !== undefined && goal === 'Cycle') return done(input, { ...power, onAt });
  if (state === 'On') return planRead(input, power, onAt);
  return state === 'Off' ? planStillOff(input, power) : waitForSwitch(input);
}

function planRead(
  { goal, way, confirm, ...input }: PowerInput,
  power: JobStepPower,
  onAt: string,
): PowerMove {
  if (goal === 'On' || !confirm) return done({ ...input, goal, way, confirm }, { ...power, onAt });
  if (power.onAt !== undefined) return wait('Boot', 'it is on, and the Node has no new boot');
  return { type: 'Record', power: { ...power, onAt }, because: `${way} reads On` };
}

function planStillOff({ way, now }: PowerInput, power: JobStepPower): PowerMove {
  const { onAt: _, ...again } = power;
  if (isDue(power, now)) return { type: 'Request', power: again, because: `${way} reads Off` };
  return wait('Power', `${way} has accepted On at ${power.acceptedAt}, and reads Off`);
}

function isDue({ acceptedAt }: JobStepPower, now: Date): boolean {
  return acceptedAt === undefined || Date.parse(acceptedAt) + REPEAT_ON_MS <= now.getTime();
}

function base({ way, power }: PowerInput): Pick<JobStepPower, 'way' | 'notBefore'> {
  return { way, ...(power?.notBefore === undefined ? {} : { notBefore: power.notBefore }) };
}

/** Records a request before it is sent. */
function intend(
  input: PowerInput,
  desired: JobStepPower['desired'],
  times: Partial<JobStepPower>,
): PowerMove {
  const power = { ...base(input), desired, intendedAt: input.now.toISOString(), ...times };
  return {
    type: 'Record',
    power,
    because: `${desired} is requested next: ${input.way} reads ${input.state}`,
  };
}

function done(input: PowerInput, power: Partial<JobStepPower>): PowerMove {
  const { goal, way, state } = input;
  const desired = goal === 'Off' ? 'Off' : 'On';
  return { type: 'Done', power: { ...base(input), desired, ...power }, because: `${way} reads ${state}` };
}

function waitForSwitch({ way, state }: PowerInput): PowerMove {
  return wait('Power', `${way} reads ${state}: neither On nor Off`);
}

function wait(what: 'Power' | 'Boot', because: string): PowerMove {
  return { type: 'Wait', for: what, because };
}
