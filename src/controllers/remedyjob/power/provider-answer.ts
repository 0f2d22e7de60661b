/**
 * Decides how a job answers an event that the provider of its machine has announced. A provider reboots for an answer, and cannot tell
 * whether it has it already: so an answer is recorded before it is sent, and sent again only where it certainly did not arrive. Pure.
 */
import type {
  JobStepAnswer,
  JobStepStatus,
  Machine,
  MaintenanceEvent,
} from '../../../api/generated/types.ts';
import { isMaintenanceOver } from '../../../api/machine/maintenance-events.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { bootIdOf } from '../../../api/status/step-records.ts';
import type { JobInput } from '../observe/observe.ts';

export interface AnswerInput extends Pick<JobInput, 'job' | 'node' | 'now'> {
  readonly machine: Machine;
  readonly record: JobStepStatus;
  readonly answer: JobStepAnswer['answer'];
  /** The events of all machines: those of this one are matched to its instance. */
  readonly events: readonly MaintenanceEvent[];
}

export type AnswerMove = { readonly because: string } & (
  | { readonly type: 'Nothing' | 'Wait' }
  | { readonly type: 'Record'; readonly answer: JobStepAnswer }
  | { readonly type: 'Send'; readonly answer: JobStepAnswer; readonly eventID: string }
  | { readonly type: 'Done'; readonly bootIDAfter?: string }
);

/**
 * An answer that another process may have sent is not sent again when it was decided longer ago. A provider carries an answer out in minutes,
 * and refuses another one meanwhile; after that a second one would reboot the instance again.
 */
const SEND_MS = 30_000;

export function planProviderAnswer(input: AnswerInput): AnswerMove {
  const { record, node, job, now } = input;
  const { answer } = record;
  if (!answer) return planFirst(input);
  const bootID = bootIdOf(node);
  if (bootID !== undefined && bootID !== (record.bootIDBefore ?? job.spec.node.bootID)) {
    return { type: 'Done', bootIDAfter: bootID, because: `the node has booted: ${bootID}` };
  }
  if (answer.acceptedAt !== undefined) return planAccepted(answer, answer.acceptedAt);
  if (!mayBeSent(record, now)) {
    return {
      type: 'Wait',
      because: 'it is not known whether the provider has the answer; another boot would show it',
    };
  }
  return planSend(input, answer);
}

/** Tells whether a recorded answer is still to be sent. A time in the future has an unknown age: a clock has jumped. */
export function mayBeSent({ answer }: JobStepStatus, now: Date): boolean {
  if (!answer || answer.acceptedAt !== undefined || answer.lostAt !== undefined) return false;
  const ageMs = now.getTime() - Date.parse(answer.intendedAt);
  return ageMs >= 0 && ageMs < SEND_MS;
}

function planFirst({ answer, ...input }: AnswerInput): AnswerMove {
  const event = eventToAnswer({ answer, ...input });
  if (!event) {
    const { provider } = input.machine.spec.infra;
    return {
      type: 'Nothing',
      because: `nothing to answer: no event of provider ${provider} takes ${answer} now`,
    };
  }
  const { name } = event.metadata;
  const recorded = { event: name, answer, intendedAt: input.now.toISOString() };
  return { type: 'Record', answer: recorded, because: `${answer} is sent next, to MaintenanceEvent ${name}` };
}

/** An accepted inquiry becomes a scheduled event, for which the machine is prepared like for every other one. */
function planAccepted({ answer }: JobStepAnswer, acceptedAt: string): AnswerMove {
  const because = `the provider has accepted ${answer} at ${acceptedAt}`;
  if (answer !== 'StartNow') return { type: 'Done', because };
  return { type: 'Wait', because: `${because}, and the node has no new boot` };
}

function planSend(input: AnswerInput, answer: JobStepAnswer): AnswerMove {
  const event = input.events.find(({ metadata }) => metadata.name === answer.event);
  if (!event || isMaintenanceOver(event, input.now)) {
    return { type: 'Nothing', because: `nothing to answer: MaintenanceEvent ${answer.event} is over` };
  }
  return { type: 'Send', answer, eventID: event.spec.eventID, because: `${answer.answer} is sent` };
}

/** Returns the event that begins first. Only what the provider of this instance has announced takes an answer, and a hint takes none. */
function eventToAnswer({ events, machine, answer, now }: AnswerInput): MaintenanceEvent | undefined {
  const states = answer === 'Accept' ? ['Inquiring'] : ['Inquiring', 'Scheduled'];
  return events
    .filter((event) => isOfInstance(event, machine) && !event.spec.hint && !isMaintenanceOver(event, now))
    .filter(({ spec }) => states.includes(spec.state))
    .toSorted((a, b) => beginOf(a) - beginOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

function isOfInstance({ spec, status }: MaintenanceEvent, machine: Machine): boolean {
  const matched = status?.machine;
  if (spec.provider !== machine.spec.infra.provider || matched?.uid !== machine.metadata.uid) return false;
  return matched?.providerID === machine.status?.infra?.providerID;
}

function beginOf({ spec }: MaintenanceEvent): number {
  return parseTime(spec.notBefore)?.getTime() ?? 0;
}

/** Tells whether the provider has the answer, or may have it: then another boot is expected, and the instance may stop at any time. */
export function mayBeAnswered({ answer }: JobStepStatus): boolean {
  return answer !== undefined;
}
