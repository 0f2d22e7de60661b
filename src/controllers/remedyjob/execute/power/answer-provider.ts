/** Answers what the provider of the machine has announced: one act in each reconcile, decided by the record. */
import { MAINTENANCE_EVENTS } from '../../../../api/generated/resources.ts';
import type { StepInputs } from '../../../../api/generated/steps.ts';
import type { JobStepAnswer, Machine, MaintenanceEvent } from '../../../../api/generated/types.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { messageOf } from '../../../../os/errors.ts';
import { isProviderError } from '../../../../providers/contract.ts';
import { abortOf } from '../../plan/abort.ts';
import { type AnswerMove, planProviderAnswer } from '../../power/provider-answer.ts';
import {
  type CentralResult,
  type CentralRun,
  stepFailed,
  stepSucceeded,
  stepWaits,
} from '../steps/central-step.ts';
import { isCertain } from './open-switch.ts';

/** The next reconcile finds what forbids the answer, and ends the job. */
const LOOK_MS = 1000;

type AnswerRun = CentralRun<StepInputs['AnswerProvider']>;

export async function runAnswerProvider(run: AnswerRun): Promise<CentralResult> {
  const { observation, record, input, node, ports, context } = run;
  const { job, machine, now } = observation;
  if (!machine) return stepFailed('NotFound', `Machine ${job.spec.machine.name} does not exist`);
  const refusal = record.answer ? undefined : ports.eventAnswers.refusal(machine);
  if (refusal !== undefined) return stepSucceeded(`not answered: ${refusal}`);
  const events = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS).list();
  const move = planProviderAnswer({ job, node, now, machine, record, events, ...input });
  return await carryOut(run, machine, move);
}

async function carryOut(run: AnswerRun, machine: Machine, move: AnswerMove): Promise<CentralResult> {
  const { because } = move;
  switch (move.type) {
    case 'Nothing':
      return stepSucceeded(because);
    case 'Done':
      return { ...stepSucceeded(because), ...optional('bootIDAfter', move.bootIDAfter) };
    case 'Wait':
      return waits(run, because);
    case 'Record':
      return { ...waits(run, because, 0), answer: move.answer };
    case 'Send':
      return await send(run, machine, move);
    default:
      return move;
  }
}

/** The grant was renewed in this reconcile. The job is judged again, because the answer of the Defender takes a while. */
async function send(
  run: AnswerRun,
  machine: Machine,
  { answer, eventID: eventId }: Extract<AnswerMove, { type: 'Send' }>,
): Promise<CentralResult> {
  const { ports, context, observation } = run;
  const { job } = observation;
  const present = await ports.lookAgain();
  const forbidden = present ? abortOf(present)?.message : 'the job was deleted';
  if (forbidden !== undefined) return waits(run, `${answer.answer} is not sent: ${forbidden}`, LOOK_MS);
  context.log.info('provider is answered', {
    job: job.metadata.name,
    answer: answer.answer,
    event: answer.event,
  });
  const sent = { eventId, answer: answer.answer };
  try {
    await ports.eventAnswers.send(machine, sent, context.signal);
  } catch (error) {
    return afterError(run, answer, error);
  }
  const acceptedAt = context.clock.now().toISOString();
  const accepted = { ...answer, acceptedAt };
  return { ...waits(run, `the provider has accepted ${answer.answer}`, 0), answer: accepted };
}

/** Ends the step after an error that is certain. An answer that may have arrived is never sent again. */
function afterError(run: AnswerRun, answer: JobStepAnswer, error: unknown): CentralResult {
  const because = `${answer.answer} was not accepted: ${messageOf(error)}`;
  if (isCertain(error)) return stepFailed('AnswerRefused', because);
  const at = run.context.clock.now().toISOString();
  // The time of the intent stays: an earlier try may have arrived, and its record failed.
  if (isProviderError(error, 'Retryable')) return waits(run, because);
  return { ...waits(run, because), answer: { ...answer, lostAt: at } };
}

function waits({ observation: { job, now } }: AnswerRun, message: string, ms?: number): CentralResult {
  const blocker = { kind: 'Machine', name: job.spec.machine.name };
  return stepWaits({ reason: 'Boot', message, blocker }, now, ms);
}
