/** Sets the taint that releases pods and volumes of a node whose machine this job has switched off, and that is read Off again now. */
import type { Machine } from '../../../../api/generated/types.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { PowerWay } from '../../../../providers/power.ts';
import { planTaint, taintState } from '../../plan/owned-taints.ts';
import { OUT_OF_SERVICE_TAINT, planOutOfService, powerOffOf } from '../../power/out-of-service.ts';
import {
  type CentralResult,
  type CentralRun,
  stepFailed,
  stepSucceeded,
  stepWaits,
} from '../steps/central-step.ts';
import { openSwitch } from './open-switch.ts';

export async function runOutOfServiceTaint(run: CentralRun): Promise<CentralResult> {
  const { job, machine } = run.observation;
  const off = powerOffOf(job);
  if (!off || !machine) {
    return stepFailed('NotPoweredOff', 'this job has not read the power of the machine Off');
  }
  const taint = taintState(run.node, OUT_OF_SERVICE_TAINT, job.spec.grant.id);
  if (taint === 'Foreign') return stepSucceeded('the node had the taint before');
  if (taint === 'Ours') return stepSucceeded('the node is out of service');
  return await setTaint(run, machine, off.power.way);
}

async function setTaint(run: CentralRun, machine: Machine, way: PowerWay): Promise<CentralResult> {
  const { observation, node, context, ports } = run;
  const { job, now } = observation;
  const opened = await openSwitch(ports.switches, machine, [way], context.signal);
  if (opened.type !== 'Read') return stepWaits({ reason: 'Power', message: opened.because }, now);
  const present = (await ports.lookAgain()) ?? observation;
  const plan = planOutOfService(present, opened.state);
  if (plan.type === 'Runs') return stepFailed('MachineRuns', plan.because);
  if (plan.type === 'Wait') return stepWaits({ reason: 'Power', message: plan.because }, now);
  // It tests that the Node has not changed since.
  await context.patch(NODES, node, planTaint(node, OUT_OF_SERVICE_TAINT, job.spec.grant.id));
  return stepSucceeded('the node is out of service: its pods and volumes are released');
}
