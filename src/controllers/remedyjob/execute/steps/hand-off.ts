/** Ends the case at a person. The condition of the Machine is written when the job is settled. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { EVENT_PREFIX, MANAGER_REMEDYJOB } from '../../../../api/names.ts';
import { type CentralResult, type CentralRun, stepSucceeded } from './central-step.ts';

export async function runHandOff(run: CentralRun<StepInputs['HandOff']>): Promise<CentralResult> {
  const { observation, input, ports, context } = run;
  const { job, machine } = observation;
  const queue = input.queue ?? ports.remedier?.spec.owner.team ?? 'unknown';
  const runbook = ports.remedier?.spec.owner.runbook;
  const where = runbook === undefined ? '' : `, runbook ${runbook}`;
  const vendor = input.vendorCase ? ', open a case with the hardware vendor' : '';
  const { remedier, faultClass } = job.spec.cause;
  const note = `${input.severity} for ${queue}: ${faultClass} fault of rule ${remedier}${where}${vendor}`;
  const reason = `${EVENT_PREFIX[MANAGER_REMEDYJOB]}HandedOff`;
  context.event(machine ?? job, { type: 'Warning', reason, action: 'HandOff', note });
  return stepSucceeded(note);
}
