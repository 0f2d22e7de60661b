/** MachineSet: exactly N machines of one shape from one infra provider. */
import { amount, count, statusHead, waiting } from '../common.ts';
import { machineSetPhases } from '../phases.ts';
import { choice, flag, int, list, map, message, name, named, reason, rules, text, time } from '../schema.ts';
import { AGE, type Kind, PHASE } from './kind.ts';
import { deletion, host, infra, node } from './machine.ts';

const template = named('MachineTemplate', 'The shape of each machine.', {
  labels: map('Labels of the Machine.', text('The value.', { max: 63 }), 32).default({}),
  infra,
  host,
  node,
  deletion,
});

const updateStrategy = rules(
  named('MachineSetUpdateStrategy', 'How a change of the template reaches the machines.', {
    type: choice('Replace: new machines. InPlace and OnDelete never delete a machine.', [
      'InPlace',
      'Replace',
      'OnDelete',
    ]).default('InPlace'),
    maxUnavailable: amount('Machines that may be out of service.').default(1),
    maxSurge: amount('Machines above `replicas` during a replacement.').optional(),
  }),
  {
    rule: "self.type == 'Replace' || !has(self.maxSurge)",
    message: 'maxSurge is only for type Replace',
    fieldPath: '.maxSurge',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.type != 'Replace' || (self.maxUnavailable != 0 && self.maxUnavailable != '0%') || (has(self.maxSurge) && self.maxSurge != 0 && self.maxSurge != '0%')",
    message: 'a replacement needs room: maxUnavailable or maxSurge above 0',
    fieldPath: '.maxUnavailable',
  },
).prefault({ type: 'InPlace', maxUnavailable: 1 });

const stormGuard = named('StormGuard', 'Above a limit nothing is created, deleted or replaced.', {
  maxUnhealthy: amount('Machines that are not healthy.').default('40%'),
  maxUnhealthyInZone: amount('Machines of one zone that are not healthy.').default('25%'),
  thawSeconds: int('How long all must be well again before it lets go.').default(300),
  overshoot: int('How many machines too many may exist for a moment.', [1, 10]).default(2),
}).prefault({});

const spec = named('MachineSetSpec', 'How many machines of which shape.', {
  replicas: int('How many.', [0, 5000]),
  template,
  zones: list('Zones to spread over evenly; none: the provider chooses.', name('A zone.'), [0, 16]).default(
    [],
  ),
  minReadySeconds: int('How long a machine must be ready to count as available.', [0, 3600]).default(0),
  updateStrategy,
  deletionOrder: choice('Which machines go first, after those marked or not ready.', [
    'Random',
    'Newest',
    'Oldest',
  ]).default('Oldest'),
  stormGuard,
  startupTimeoutSeconds: int(
    'A machine that is not Ready by then is replaced, one at a time.',
    [60, 7200],
  ).default(600),
  paused: flag('Nothing is created, deleted or changed.').default(false),
});

const status = named('MachineSetStatus', 'How many machines there are.', {
  ...statusHead(machineSetPhases.phases),
  waiting: waiting(),
  replicas: count('Machines that exist.'),
  readyReplicas: count('Machines that are Ready.'),
  availableReplicas: count('Machines that were Ready for long enough.'),
  upToDateReplicas: count('Machines that match the template.'),
  failedReplicas: count('Machines that failed.'),
  selector: text('Label selector of the machines, for the scale subresource.').optional(),
  plannedAction: named('PlannedAction', 'What is done next, shown before it is done.', {
    type: choice('What.', ['None', 'Create', 'Delete', 'UpdateInPlace', 'Replace']).optional(),
    machines: count('To how many machines.'),
    names: list('The first of them.', name('A machine.'), [0, 20]).optional(),
    fields: list('Fields of the template that differ.', name('A field.', 256), [0, 16]).optional(),
    because: message('Why.').optional(),
  }).optional(),
  storm: named('Storm', 'While the guard holds.', {
    since: time('Since when.').optional(),
    reason: reason().optional(),
    unhealthy: count('Machines that are not healthy.'),
    limit: count('How many may be.'),
  }).optional(),
});

export const machineSet: Kind = {
  kind: 'MachineSet',
  plural: 'machinesets',
  shortName: 'kms',
  lives: 'cluster',
  description: 'Exactly N machines of one shape from one infra provider.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: 'size(self.metadata.name) <= 54',
      message: 'the name may have at most 54 characters: names of its machines begin with it',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    PHASE,
    { name: 'Desired', path: '.spec.replicas', type: 'integer' },
    { name: 'Current', path: '.status.replicas', type: 'integer' },
    { name: 'Ready', path: '.status.readyReplicas', type: 'integer' },
    { name: 'Available', path: '.status.availableReplicas', type: 'integer' },
    { name: 'UpToDate', path: '.status.upToDateReplicas', type: 'integer' },
    { name: 'Provider', path: '.spec.template.infra.provider' },
    AGE,
    { name: 'Guarded since', path: '.status.storm.since', type: 'date', wide: true },
  ],
  scale: { replicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.status.selector' },
  phases: machineSetPhases,
};
