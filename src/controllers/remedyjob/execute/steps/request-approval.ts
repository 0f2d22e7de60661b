/** Waits for the answer of a person. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { type CentralResult, type CentralRun, stepFailed, stepSucceeded, stepWaits } from './central-step.ts';

const ASK_MS = 15_000;

export async function runRequestApproval(
  run: CentralRun<StepInputs['RequestApproval']>,
): Promise<CentralResult> {
  const { observation, record, input, ports } = run;
  const { job, now } = observation;
  const { state, message } = await ports.approvals.ask(job, new Date(record.startedAt ?? now), now);
  if (state === 'Approved') return stepSucceeded(message);
  if (state === 'Refused') return stepFailed('ApprovalRefused', message);
  const text = input.message === undefined ? message : `${input.message} (${message})`;
  return stepWaits({ reason: 'ApprovalRequired', message: text, isBlocked: true }, now, ASK_MS);
}
