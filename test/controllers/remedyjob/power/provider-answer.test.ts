import { describe, expect, it } from 'vitest';
import type { JobStepAnswer, MaintenanceEvent } from '../../../../src/api/generated/types.ts';
import { planProviderAnswer } from '../../../../src/controllers/remedyjob/power/provider-answer.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { type EventParts, maintenanceEvent } from '../../../support/maintenance.ts';
import { BOOT, jobMachine, jobNode, later, repairJob } from '../jobs.ts';

const INSTANCE = 'local://i-1';
const machine = jobMachine({ infra: { providerID: INSTANCE } });
const MATCHED = { machine: { uid: 'uid-m', providerID: INSTANCE } };

function event(parts: EventParts = {}): MaintenanceEvent {
  return maintenanceEvent({ machine: 'm', status: MATCHED, ...parts });
}

interface Situation {
  readonly recorded?: Partial<JobStepAnswer>;
  readonly events?: readonly MaintenanceEvent[];
  readonly answer?: JobStepAnswer['answer'];
  /** Empty: the Node is missing. */
  readonly bootID?: string;
  readonly bootIDBefore?: string;
  readonly seconds?: number;
}

function nodeOf(bootID: string): ReturnType<typeof jobNode> | undefined {
  return bootID === '' ? undefined : jobNode({ bootID });
}

function planned({
  recorded,
  events = [event()],
  answer = 'StartNow',
  bootID = BOOT,
  bootIDBefore = BOOT,
  seconds = 0,
}: Situation): string {
  const written = recorded && { event: 'local-e-1', answer, intendedAt: later(0), ...recorded };
  const move = planProviderAnswer({
    job: repairJob(),
    node: nodeOf(bootID),
    now: new Date(later(seconds)),
    machine,
    record: { id: 's3', state: 'Running', bootIDBefore, ...optional('answer', written) },
    answer,
    events,
  });
  return `${move.type}: ${move.because}`;
}

const NOTHING = 'Nothing: nothing to answer: no event of provider local takes StartNow now';
const UNKNOWN = 'Wait: it is not known whether the provider has the answer; another boot would show it';

describe('planProviderAnswer', () => {
  it.each<[name: string, situation: Situation, expected: string]>([
    ['records first', {}, 'Record: StartNow is sent next, to MaintenanceEvent local-e-1'],
    ['no event', { events: [] }, NOTHING],
    ['an event that is over', { events: [event({ state: 'Done' })] }, NOTHING],
    ['an event that is carried out already', { events: [event({ state: 'Executing' })] }, NOTHING],
    ['a hint', { events: [event({ hint: true, ttlSeconds: 600 })] }, NOTHING],
    ['an event of Host Doctor', { events: [event({ provider: 'hostdoctor' })] }, NOTHING],
    ['an event that was not matched', { events: [event({ status: {} })] }, NOTHING],
    [
      'an event of the machine before',
      { events: [event({ status: { machine: { uid: 'uid-old', providerID: INSTANCE } } })] },
      NOTHING,
    ],
    [
      'an event of the instance before',
      { events: [event({ status: { machine: { uid: 'uid-m', providerID: 'local://i-0' } } })] },
      NOTHING,
    ],
    [
      'the event that begins first',
      { events: [event({ name: 'b', notBefore: later(90) }), event({ name: 'a', notBefore: later(60) })] },
      'Record: StartNow is sent next, to MaintenanceEvent a',
    ],
    [
      'Accept only for an inquiry',
      { answer: 'Accept' },
      'Nothing: nothing to answer: no event of provider local takes Accept now',
    ],
    [
      'Accept for an inquiry',
      { answer: 'Accept', events: [event({ state: 'Inquiring' })] },
      'Record: Accept is sent next, to MaintenanceEvent local-e-1',
    ],
    ['sends what is recorded', { recorded: {} }, 'Send: StartNow is sent'],
    ['sends within half a minute', { recorded: {}, seconds: 29 }, 'Send: StartNow is sent'],
    ['never later: another process may have sent it', { recorded: {}, seconds: 30 }, UNKNOWN],
    ['not with a clock that jumped back: the age is unknown', { recorded: {}, seconds: -1 }, UNKNOWN],
    ['never again when the answer was lost', { recorded: { lostAt: later(1) }, seconds: 2 }, UNKNOWN],
    [
      'not for an event that is over meanwhile',
      { recorded: {}, events: [event({ state: 'Cancelled' })] },
      'Nothing: nothing to answer: MaintenanceEvent local-e-1 is over',
    ],
    [
      'waits for another boot',
      { recorded: { acceptedAt: later(1) }, seconds: 600 },
      `Wait: the provider has accepted StartNow at ${later(1)}, and the node has no new boot`,
    ],
    [
      'an accepted inquiry is done',
      { answer: 'Accept', recorded: { acceptedAt: later(1) } },
      `Done: the provider has accepted Accept at ${later(1)}`,
    ],
    [
      'another boot ends it',
      { recorded: { acceptedAt: later(1) }, bootID: 'boot-2' },
      'Done: the node has booted: boot-2',
    ],
    [
      'another boot ends what was lost',
      { recorded: { lostAt: later(1) }, bootID: 'boot-2' },
      'Done: the node has booted: boot-2',
    ],
    [
      'a Node that is missing shows no other boot',
      { recorded: { acceptedAt: later(1) }, bootID: '' },
      `Wait: the provider has accepted StartNow at ${later(1)}, and the node has no new boot`,
    ],
    [
      'the boot in which the step began does not count as another one',
      { recorded: { acceptedAt: later(1) }, bootID: 'boot-2', bootIDBefore: 'boot-2' },
      `Wait: the provider has accepted StartNow at ${later(1)}, and the node has no new boot`,
    ],
    ['another boot before anything was sent is not ours', { events: [], bootID: 'boot-2' }, NOTHING],
  ])('R31 R39 answers at most once: %s', (_, situation, expected) => {
    expect(planned(situation)).toBe(expected);
  });
});
