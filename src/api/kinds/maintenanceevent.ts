/** MaintenanceEvent: a hardware event for a machine, announced by its provider or diagnosed by Host Doctor. */
import { count, statusHead, waiting } from '../common.ts';
import { PROVIDERS } from '../enums.ts';
import { maintenanceEventPhases } from '../phases.ts';
import { choice, flag, immutable, int, name, named, percent, rules, text, time } from '../schema.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

const spec = rules(
  named('MaintenanceEventSpec', 'What the reporter says.', {
    provider: immutable('the provider', choice('Who reports it.', [...PROVIDERS, 'hostdoctor'])),
    eventID: immutable('the event id', name('Id of the event at the reporter.', 128)),
    machine: immutable('the machine', name('The machine.')),
    type: immutable(
      'the type',
      choice('What happens to it.', [
        'Reboot',
        'Stop',
        'Redeploy',
        'Preempt',
        'Freeze',
        'Network',
        'DiskFault',
        'GPUFault',
        'MemoryFault',
        'Degraded',
        'Other',
      ]),
    ),
    state: choice('Where it stands at the reporter.', [
      'Inquiring',
      'Scheduled',
      'Executing',
      'Done',
      'Cancelled',
      'Failed',
      'Avoided',
    ]),
    hint: flag('May never come true; ends at ttlSeconds, without a trace on the node.').default(false),
    ttlSeconds: int('How long a hint holds.', [60, 604_800]).optional(),
    notBefore: time('It begins then at the earliest; the provider may move it.').optional(),
    deadline: time('We may act until then.').optional(),
    cause: text('Cause of a diagnosis.', { max: 64 }).optional(),
    confidencePercent: percent('How sure the diagnosis is.').optional(),
    details: text('More, for people.', { max: 1024 }).optional(),
  }),
  {
    rule: '!self.hint || has(self.ttlSeconds)',
    message: 'a hint needs ttlSeconds: it must end some time',
    fieldPath: '.ttlSeconds',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!has(self.notBefore) || !has(self.deadline) || timestamp(self.notBefore) <= timestamp(self.deadline)',
    message: 'the deadline may not lie before notBefore',
    fieldPath: '.deadline',
  },
  {
    rule: "!(oldSelf.state in ['Done', 'Cancelled', 'Failed', 'Avoided']) || self.state == oldSelf.state",
    message: 'an event that is over stays over; report a new one',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const status = named('MaintenanceEventStatus', 'What we do about it.', {
  ...statusHead(maintenanceEventPhases.phases),
  waiting: waiting(),
  actAt: time('When we begin: notBefore minus the time that a drain takes here.').optional(),
  job: text('The RemedyOperationJob.', { max: 253 }).optional(),
  remedier: text('The NodeRemedier.', { max: 63 }).optional(),
  responded: choice('What we answered the provider.', [
    'None',
    'Accepted',
    'Deferred',
    'Declined',
  ]).optional(),
  respondedAt: time('When.').optional(),
  reports: count('How often it was reported.'),
});

export const maintenanceEvent: Kind = {
  kind: 'MaintenanceEvent',
  plural: 'maintenanceevents',
  shortName: 'kme',
  lives: 'cluster',
  description: 'A hardware event for a machine, announced by its provider or diagnosed by Host Doctor.',
  nameMax: 253,
  spec,
  status,
  columns: [
    { name: 'Machine', path: '.spec.machine' },
    { name: 'Provider', path: '.spec.provider' },
    { name: 'Type', path: '.spec.type' },
    { name: 'State', path: '.spec.state' },
    PHASE,
    // Not as dates: of a moment that is still to come kubectl prints <invalid>.
    { name: 'NotBefore', path: '.spec.notBefore' },
    { name: 'ActAt', path: '.status.actAt' },
    AGE,
  ],
  phases: maintenanceEventPhases,
};
