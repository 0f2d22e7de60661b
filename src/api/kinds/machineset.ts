/** MachineSet: a number of machines of one template at one infrastructure provider. */
import { amount, count, statusHead, waiting } from '../common.ts';
import { FOLLOWED_PROVIDERS } from '../enums.ts';
import { choice, flag, int, list, map, message, name, named, reason, rules, text, time } from '../schema.ts';
import { machineSetPhases } from '../status/phase-tables.ts';
import { AGE, type Kind, PHASE } from './kind.ts';
import { deletion, host, infra, node } from './machine.ts';

const template = rules(
  named('MachineTemplate', 'Template of the machines.', {
    labels: map('Labels of the Machines.', text('Label value.', { max: 63 }), 32).default({}),
    infra,
    host,
    node,
    deletion,
  }),
  {
    rule: `!(self.infra.provider in ['${FOLLOWED_PROVIDERS.join("', '")}'])`,
    message: 'machines of this provider are created by another system, and followed: scale them there',
    fieldPath: '.infra.provider',
    reason: 'FieldValueForbidden',
  },
);

const updateStrategy = rules(
  named('MachineSetUpdateStrategy', 'How changes of the template are applied to existing machines.', {
    type: choice(
      'Replace creates new machines. InPlace and OnDelete never delete a machine because of a template change.',
      ['InPlace', 'Replace', 'OnDelete'],
    ).default('InPlace'),
    maxUnavailable: amount('Machines that may be unavailable during the update.').default(1),
    maxSurge: amount('Machines above `replicas` that may exist during the update.').optional(),
  }),
  {
    rule: "self.type == 'Replace' || !has(self.maxSurge)",
    message: 'maxSurge is allowed with type Replace only',
    fieldPath: '.maxSurge',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.type != 'Replace' || (self.maxUnavailable != 0 && self.maxUnavailable != '0%') || (has(self.maxSurge) && self.maxSurge != 0 && self.maxSurge != '0%')",
    message: 'type Replace needs maxUnavailable or maxSurge above 0',
    fieldPath: '.maxUnavailable',
  },
).prefault({ type: 'InPlace', maxUnavailable: 1 });

const stormGuard = named('StormGuard', 'Limits above which no machine is created, deleted or replaced.', {
  maxUnhealthy: amount('Maximum number of unhealthy machines.').default('40%'),
  maxUnhealthyInZone: amount('Maximum number of unhealthy machines in one zone.').default('25%'),
  thawSeconds: int('How long the counts must stay below the limits before changes resume.').default(300),
  overshoot: int('Machines above the desired count that may exist temporarily.', [1, 10]).default(2),
}).prefault({});

const spec = named('MachineSetSpec', 'Desired machines.', {
  replicas: int('Desired number of machines.', [0, 5000]),
  template,
  zones: list(
    'Zones over which machines are spread evenly. Empty: the provider chooses.',
    name('Name of a zone.'),
    [0, 16],
  ).default([]),
  minReadySeconds: int('How long a machine must be Ready before it counts as available.', [0, 3600]).default(
    0,
  ),
  updateStrategy,
  deletionOrder: choice('Which machines are deleted first, after marked and unready ones.', [
    'Random',
    'Newest',
    'Oldest',
  ]).default('Oldest'),
  stormGuard,
  startupTimeoutSeconds: int(
    'A machine that is not Ready after this time is replaced, one at a time.',
    [60, 7200],
  ).default(600),
  paused: flag('Whether creating, deleting and updating machines is paused.').default(false),
});

const status = named('MachineSetStatus', 'Observed machines.', {
  ...statusHead(machineSetPhases.phases),
  waiting: waiting(),
  replicas: count('Machines that exist, without those that are only kept for an analysis.'),
  readyReplicas: count('Machines that are Ready.'),
  availableReplicas: count('Machines that were Ready for long enough.'),
  upToDateReplicas: count('Machines that match the template.'),
  failedReplicas: count('Machines that failed.'),
  selector: text('Label selector of the machines, for the scale subresource.').optional(),
  plannedAction: named('PlannedAction', 'The next action, reported before it is carried out.', {
    type: choice('Type of the action.', ['None', 'Create', 'Delete', 'UpdateInPlace', 'Replace']).optional(),
    machines: count('Number of affected machines.'),
    names: list('The first 20 affected machines.', name('Name of a machine.'), [0, 20]).optional(),
    fields: list('Template fields that differ.', name('Path of a field.', 256), [0, 16]).optional(),
    because: message('Explanation of the action.').optional(),
  }).optional(),
  storm: named('Storm', 'Present while the storm guard stops changes.', {
    since: time('When the guard became active.').optional(),
    reason: reason().optional(),
    unhealthy: count('Number of unhealthy machines.'),
    limit: count('Limit that is exceeded.'),
  }).optional(),
});

export const machineSet: Kind = {
  kind: 'MachineSet',
  plural: 'machinesets',
  shortName: 'kms',
  lives: 'cluster',
  description: 'Keeps a number of machines of one template at one infrastructure provider.',
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
