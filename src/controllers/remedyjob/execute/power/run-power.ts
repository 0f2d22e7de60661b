/**
 * Carries out the steps that switch the power of a machine: one act in each reconcile, decided by the record and by what the switch reads.
 * Immediately before Off is requested, the grant is renewed and the job is judged again.
 */
import type { JobStepPower } from '../../../../api/generated/types.ts';
import type { RepairWaitReason } from '../../../../api/status/repair-waits.ts';
import { bootIdOf } from '../../../../api/status/step-records.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { PowerSwitch, PowerWay } from '../../../../providers/power.ts';
import { type PowerMove, planPower } from '../../power/plan-power.ts';
import { isSwitchedOn, lastPower, type PowerStep, poweredOn, powerStep } from '../../power/power-records.ts';
import {
  type CentralResult,
  type CentralRun,
  stepFailed,
  stepSucceeded,
  stepWaits,
} from '../steps/central-step.ts';
import { removeOutOfService } from './back-in-service.ts';
import { isCertain, type OpenedSwitch, openSwitch } from './open-switch.ts';
import { permitOff } from './permit-off.ts';

export const NO_SWITCH = 'NoPowerSwitch';
export const REFUSED = 'PowerRefused';

export async function runPower(run: CentralRun): Promise<CentralResult> {
  const { observation, record, ports, context } = run;
  const { machine, now } = observation;
  const step = powerStep(run.step);
  if (!step || !machine) return stepFailed(NO_SWITCH, 'the step names no way to a power switch');
  const booted = bootedSince(run);
  const search = { ways: waysNow(step, record.power), passesSilent: isPastPatience(run) };
  const opened = await openSwitch(ports.switches, machine, search, context.signal);
  if (opened.type !== 'Read') return withoutReading(run, opened, booted);
  const { power: found, state, passed } = opened;
  const move = planPower({ ...step, way: found.way, power: record.power, state, booted, now });
  const result = await carryOut(run, move, { step, found, booted });
  return passed === undefined ? result : { ...result, note: passed };
}

function withoutReading(
  run: CentralRun,
  { type, because }: Exclude<OpenedSwitch, { type: 'Read' }>,
  booted: string | undefined,
): CentralResult {
  const { record, observation } = run;
  // A boot after we switched it on needs no switch that confirms it.
  if (booted !== undefined && isSwitchedOn(record)) {
    const message = `the node has booted: ${booted}`;
    const power = optional('power', poweredOn(record, observation.now));
    return { state: 'Succeeded', message, bootIDAfter: booted, ...power };
  }
  return type === 'None' ? noSwitch(run, because) : waits(run, 'Power', because);
}

/** A switch that is restarted, or busy, answers within a minute: three tries of 20 s. Short steps leave half of their time to the next way. */
const PATIENCE_MS = 60_000;

/** Tells whether a way that does not answer has had its time: since the step began, or since On was requested. */
function isPastPatience({ step, record: { power, startedAt }, observation: { now } }: CentralRun): boolean {
  const sinceMs = Date.parse(power?.intendedAt ?? startedAt ?? '');
  return sinceMs + Math.min(PATIENCE_MS, (step.timeoutSeconds * 1000) / 2) <= now.getTime();
}

function bootedSince({ observation: { job, node }, record }: CentralRun): string | undefined {
  const bootID = bootIdOf(node);
  return bootID === (record.bootIDBefore ?? job.spec.node.bootID) ? undefined : bootID;
}

/** PowerOn is for what this job has switched off. */
export async function runPowerOn(run: CentralRun): Promise<CentralResult> {
  const last = lastPower(run.observation.job);
  const isOurs = last?.step.id === run.step.id || (last?.power.desired === 'Off' && last.power.intendedAt);
  return isOurs ? await runPower(run) : stepSucceeded('nothing to do: this job has not switched it off');
}

/** Returns the ways to try. What was requested one way is read back the same way; a machine that is off may be switched on any way. */
function waysNow({ ways }: PowerStep, power: JobStepPower | undefined): readonly PowerWay[] {
  if (power?.intendedAt === undefined) return ways;
  if (power.desired === 'Off') return [power.way];
  return [power.way, ...ways.filter((way) => way !== power.way)];
}

/** Before anything was requested, the step has failed. Later a switch may come back. */
function noSwitch(run: CentralRun, because: string): CentralResult {
  const isBegun = run.record.power?.intendedAt !== undefined;
  return isBegun ? waits(run, 'Power', because) : stepFailed(NO_SWITCH, because);
}

interface Found {
  readonly step: PowerStep;
  readonly found: PowerSwitch;
  readonly booted: string | undefined;
}

async function carryOut(
  run: CentralRun,
  move: PowerMove,
  { step, found, booted }: Found,
): Promise<CentralResult> {
  if (move.type === 'Done') {
    const { because, power } = move;
    const message = [because, run.record.message].filter((each) => each !== undefined).join('; ');
    // A person may have switched it on.
    if (power.desired === 'On') await removeOutOfService(run);
    return { state: 'Succeeded', message, power, ...optional('bootIDAfter', booted) };
  }
  if (move.type === 'Record') return { ...waits(run, 'Power', move.because, 0), power: move.power };
  if (move.type === 'Wait') return waits(run, move.for, move.because);
  return move.power.desired === 'Off'
    ? await requestOff(run, move.power, { step, found })
    : await requestOn(run, move.power, found);
}

async function requestOff(
  run: CentralRun,
  power: JobStepPower,
  { step, found }: Pick<Found, 'step' | 'found'>,
): Promise<CentralResult> {
  const permit = await permitOff(run);
  if (!permit.isPermitted) return permit.result;
  const { renewed } = permit;
  const { context, observation } = run;
  context.log.info('machine is switched off', { job: observation.job.metadata.name, way: found.way });
  try {
    await found.request('Off', context.signal);
  } catch (error) {
    return { ...offRefused(run, { power, step, error }), renewed };
  }
  const acceptedAt = context.clock.now().toISOString();
  const message = `${found.way} has accepted Off`;
  return { ...waits(run, 'Power', message), power: { ...power, acceptedAt }, renewed };
}

interface RefusedOff {
  readonly power: JobStepPower;
  readonly step: PowerStep;
  readonly error: unknown;
}

/** The next way follows only a refusal that is certain. Otherwise the state is read back first. */
function offRefused(run: CentralRun, { power, step, error }: RefusedOff): CentralResult {
  const because = `${power.way} has not accepted Off: ${messageOf(error)}`;
  if (!isCertain(error)) return waits(run, 'Power', because);
  const way = step.ways[step.ways.indexOf(power.way) + 1];
  if (way === undefined) {
    // Nothing was switched.
    const { intendedAt: _, ...never } = power;
    return { ...stepFailed(REFUSED, because), power: never };
  }
  const intendedAt = run.observation.now.toISOString();
  return { ...waits(run, 'Power', because, 0), power: { ...power, way, intendedAt } };
}

/** Returns a machine to service, and so needs no grant. */
async function requestOn(run: CentralRun, power: JobStepPower, found: PowerSwitch): Promise<CentralResult> {
  const { observation, context } = run;
  if (await removeOutOfService(run)) {
    return waits(run, 'Power', 'the node is not out of service any more; it is switched on next', 0);
  }
  context.log.info('machine is switched on', { job: observation.job.metadata.name, way: found.way });
  try {
    await found.request('On', context.signal);
  } catch (error) {
    return waits(run, 'Power', `${found.way} has not accepted On: ${messageOf(error)}`);
  }
  const acceptedAt = context.clock.now().toISOString();
  const accepted = { ...power, way: found.way, acceptedAt };
  return { ...waits(run, 'Power', `${found.way} has accepted On`), power: accepted };
}

function waits(
  { observation: { job, now } }: CentralRun,
  reason: Extract<RepairWaitReason, 'Power' | 'Boot'>,
  message: string,
  ms?: number,
): CentralResult {
  const blocker = { kind: 'Machine', name: job.spec.machine.name };
  return stepWaits({ reason, message, blocker }, now, ms);
}
