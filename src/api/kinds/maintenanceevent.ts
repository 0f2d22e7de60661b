/** MaintenanceEvent: a hardware event of a machine, announced by its provider or diagnosed by Host Doctor. */
import { count, statusHead, waiting } from '../common.ts';
import { DECIDED, FINAL_STATES, FOLLOWED_PROVIDERS, NO_OUTAGES, OUTAGES, PROVIDERS } from '../enums.ts';
import { choice, flag, immutable, int, name, named, percent, rules, text, time } from '../schema.ts';
import { maintenanceEventPhases } from '../status/phase-tables.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

const STATES = ['Inquiring', ...DECIDED, ...FINAL_STATES] as const;

const spec = rules(
  named('MaintenanceEventSpec', 'The event as the provider or Host Doctor reports it.', {
    provider: immutable(
      'the provider',
      choice('Provider that reports the event.', [...PROVIDERS, ...FOLLOWED_PROVIDERS, 'hostdoctor']),
    ),
    eventID: immutable('the event id', name('Id of the event at the provider.', 128)),
    machine: immutable('the machine', name('Name of the Machine.')),
    type: immutable('the type', choice('What happens to the machine.', [...OUTAGES, ...NO_OUTAGES])),
    state: choice(
      'State of the event at the provider: Inquiring, Scheduled, Executing, Done, in this order. Each of the first three may end as Cancelled, Failed or Avoided.',
      STATES,
    ),
    hint: flag(
      'Whether the event is only a hint. A hint expires after ttlSeconds and leaves nothing on the node.',
    ).default(false),
    ttlSeconds: int('Lifetime of a hint.', [60, 604_800]).optional(),
    notBefore: time('Earliest start of the event. The provider may change it.').optional(),
    deadline: time('Latest time at which the machine can still be prepared.').optional(),
    cause: text('Diagnosed cause.', { max: 64 }).optional(),
    confidencePercent: percent('Confidence of the diagnosis.').optional(),
    details: text('Further details from the provider.', { max: 1024 }).optional(),
  }),
  {
    rule: '!self.hint || has(self.ttlSeconds)',
    message: 'a hint needs ttlSeconds, after which it expires',
    fieldPath: '.ttlSeconds',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!has(self.notBefore) || !has(self.deadline) || timestamp(self.notBefore) <= timestamp(self.deadline)',
    message: 'deadline must not be earlier than notBefore',
    fieldPath: '.deadline',
  },
  {
    rule: `!(oldSelf.state in [${FINAL_STATES.map((state) => `'${state}'`).join(', ')}]) || self.state == oldSelf.state`,
    message: 'a finished event cannot change its state; report a new event',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const status = named('MaintenanceEventStatus', 'How kubenode handles the event.', {
  ...statusHead(maintenanceEventPhases.phases),
  waiting: waiting(),
  observedState: choice(
    'The last state that a permitted change led to. Inconsistent is judged from it, also after a restart.',
    STATES,
  ).optional(),
  machine: named('MaintenanceEventMachine', 'The machine that the event is about.', {
    uid: name('UID of the Machine.'),
    providerID: text('Its provider id, once it has one.').optional(),
  })
    .describe('The machine when the event was matched: another one of the same name is not meant.')
    .optional(),
  actAt: time(
    'When preparation begins: notBefore minus the usual duration of a drain and a margin. Absent while it is not to come: rules ignore such an event.',
  ).optional(),
  job: text('Name of the RemedyOperationJob that prepares the machine.', { max: 253 }).optional(),
  remedier: text('Name of the NodeRemedier of the job.', { max: 63 }).optional(),
  responded: choice('Answer that the provider took.', ['Accepted']).optional(),
  respondedAt: time('When the answer was sent.').optional(),
  reports: count(
    'Number of reports that changed the event: its generation. A repeated report changes nothing.',
  ),
});

export const maintenanceEvent: Kind = {
  kind: 'MaintenanceEvent',
  plural: 'maintenanceevents',
  shortName: 'kme',
  lives: 'cluster',
  description: 'A hardware event of a machine, announced by its provider or diagnosed by Host Doctor.',
  nameMax: 253,
  spec,
  status,
  columns: [
    { name: 'Machine', path: '.spec.machine' },
    { name: 'Provider', path: '.spec.provider' },
    { name: 'Type', path: '.spec.type' },
    { name: 'State', path: '.spec.state' },
    PHASE,
    // Not of type date: kubectl prints <invalid> for a time in the future.
    { name: 'NotBefore', path: '.spec.notBefore' },
    { name: 'ActAt', path: '.status.actAt' },
    AGE,
  ],
  phases: maintenanceEventPhases,
};
