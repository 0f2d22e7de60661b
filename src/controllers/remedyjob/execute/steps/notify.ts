/** Tells the owner of the rule, or the workloads of the node, by an Event; then they have their time. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { EVENT_PREFIX, MANAGER_REMEDYJOB } from '../../../../api/names.ts';
import { type CentralResult, type CentralRun, stepSucceeded, stepWaits } from './central-step.ts';

export async function runNotify(run: CentralRun<StepInputs['Notify']>): Promise<CentralResult> {
  const { observation, node, input, record, context } = run;
  const { job, machine, now } = observation;
  const { signal, to, leadTimeSeconds, message } = input;
  const about = to === 'Workloads' ? node : (machine ?? job);
  if (record.state === 'Intended') {
    const note = `${signal}: ${message ?? `job ${job.metadata.name} is about to act`}`;
    const reason = `${EVENT_PREFIX[MANAGER_REMEDYJOB]}Notified`;
    context.event(about, { type: 'Normal', reason, action: 'Notify', note });
  }
  const endsMs = Date.parse(record.startedAt ?? '') + leadTimeSeconds * 1000;
  const sent = `${signal} was sent to ${about.kind} ${about.metadata.name}`;
  if (!(endsMs > now.getTime())) return stepSucceeded(sent);
  const text = `${signal} was sent; receivers have ${leadTimeSeconds} s`;
  return stepWaits({ reason: 'LeadTime', message: text }, now, endsMs - now.getTime());
}
