/** Switches a machine on again at the end of a job that left it off: one act in each reconcile, as the steps do. */
import type { JobStepPower } from '../../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { messageOf } from '../../../../os/errors.ts';
import type { PowerSwitch } from '../../../../providers/power.ts';
import type { JobInput } from '../../observe/observe.ts';
import { type PowerRecord, powerStep } from '../../power/power-records.ts';
import { isRestoreOverdue, planRestore } from '../../power/restore.ts';
import type { StepPorts } from '../steps/central-step.ts';
import { removeOutOfService } from './back-in-service.ts';
import { openSwitch } from './open-switch.ts';

export interface RestoreRun {
  readonly observation: JobInput;
  readonly last: PowerRecord;
  readonly ports: Pick<StepPorts, 'client' | 'switches'>;
  readonly context: ReconcileContext;
}

export interface RestoreResult {
  readonly message: string;
  /** Undefined: the record stays, and the switch is read again later. */
  readonly power?: JobStepPower;
}

export async function restorePower(run: RestoreRun): Promise<RestoreResult> {
  const { observation, last, ports, context } = run;
  const { machine, now } = observation;
  const { way } = last.power;
  if (!machine) return { message: 'the Machine was deleted' };
  const others = (powerStep(last.step)?.ways ?? []).filter((each) => each !== way);
  // What may still go off is read the way in which it was requested.
  const ways = last.power.offAt === undefined ? [way] : [way, ...others];
  const opened = await openSwitch(ports.switches, machine, { ways, passesSilent: true }, context.signal);
  const { message, power } =
    opened.type === 'Read'
      ? await restoreNow(
          run,
          opened.power,
          planRestore({ ...last.power, way: opened.power.way }, opened.state, now),
        )
      : { message: opened.because };
  if (power) return { message, power };
  if (!isRestoreOverdue(observation)) return { message };
  const givenUp = { ...last.power, givenUpAt: now.toISOString() };
  return { message: `the machine may be off: ${message}`, power: givenUp };
}

async function restoreNow(
  run: RestoreRun,
  found: PowerSwitch,
  move: ReturnType<typeof planRestore>,
): Promise<RestoreResult> {
  const { because } = move;
  const { observation, context } = run;
  if (move.type === 'Wait') return { message: because };
  if (move.type !== 'Record') await removeOutOfService(run);
  if (move.type !== 'Request') return { message: because, power: move.power };
  context.log.info('machine is switched on', { job: observation.job.metadata.name, way: found.way });
  try {
    await found.request('On', context.signal);
  } catch (error) {
    return { message: `${found.way} has not accepted On: ${messageOf(error)}` };
  }
  const acceptedAt = context.clock.now().toISOString();
  return { message: `${found.way} has accepted On`, power: { ...move.power, acceptedAt } };
}
