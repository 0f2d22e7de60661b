/**
 * Sets the taint that releases pods and volumes of a node whose machine this job has switched off, and that is read Off again now. The step
 * ends when Kubernetes has released them.
 */
import type { Machine } from '../../../../api/generated/types.ts';
import { NODES, PODS, VOLUME_ATTACHMENTS } from '../../../../kube/objects/core-kinds.ts';
import type { PowerWay } from '../../../../providers/power.ts';
import { planTaint, taintState } from '../../plan/owned-taints.ts';
import { OUT_OF_SERVICE_TAINT, planOutOfService, powerOffOf } from '../../power/out-of-service.ts';
import { heldReason } from '../../power/released.ts';
import {
  type CentralResult,
  type CentralRun,
  stepFailed,
  stepSucceeded,
  stepWaits,
} from '../steps/central-step.ts';
import { listAll } from '../steps/evict-pods.ts';
import { removeOutOfService } from './back-in-service.ts';
import { openSwitch } from './open-switch.ts';

export async function runOutOfServiceTaint(run: CentralRun): Promise<CentralResult> {
  const { job, machine } = run.observation;
  const off = powerOffOf(job);
  if (!off || !machine) {
    return stepFailed('NotPoweredOff', 'this job has not read the power of the machine Off');
  }
  const refused = await refusedBySwitch(run, machine, off.power.way);
  if (refused) return refused;
  const taint = taintState(run.node, OUT_OF_SERVICE_TAINT, job.spec.grant.id);
  return taint === 'None' ? await setTaint(run) : await waitForRelease(run);
}

/** Resolves to undefined while the machine is off. A machine that runs, or shows life, loses the taint: two may write to its volumes. */
async function refusedBySwitch(
  run: CentralRun,
  machine: Machine,
  way: PowerWay,
): Promise<CentralResult | undefined> {
  const { observation, context, ports } = run;
  const { now } = observation;
  const search = { ways: [way], passesSilent: false };
  const opened = await openSwitch(ports.switches, machine, search, context.signal);
  if (opened.type !== 'Read') return stepWaits({ reason: 'Power', message: opened.because }, now);
  const present = (await ports.lookAgain()) ?? observation;
  const plan = planOutOfService(present, opened.state);
  if (plan.type === 'Set') return undefined;
  if (plan.type !== 'Wait') await removeOutOfService(run);
  return plan.type === 'Runs'
    ? stepFailed('MachineRuns', plan.because)
    : stepWaits({ reason: 'Power', message: plan.because }, now);
}

async function setTaint({ observation, node, context }: CentralRun): Promise<CentralResult> {
  const { job, now } = observation;
  // It tests that the Node has not changed since.
  await context.patch(NODES, node, planTaint(node, OUT_OF_SERVICE_TAINT, job.spec.grant.id));
  const message = 'the node is out of service: its pods and volumes are released next';
  return stepWaits({ reason: 'Releasing', message }, now);
}

/** The list of attachments has no selector for nodes. It is read only while a machine is off. */
async function waitForRelease(run: CentralRun): Promise<CentralResult> {
  const { observation, node } = run;
  const { name } = node.metadata;
  const pods = await listAll(run, PODS, { fieldSelector: `spec.nodeName=${name}` });
  const attachments = await listAll(run, VOLUME_ATTACHMENTS, {});
  const held = heldReason({ node: name, pods, attachments });
  return held === undefined
    ? stepSucceeded('the node is out of service: its pods are deleted and its volumes detached')
    : stepWaits({ reason: 'Releasing', message: held }, observation.now);
}
