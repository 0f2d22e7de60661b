/** MachineComponent: one immutable version of one component. */
import { count, statusHead } from '../common.ts';
import { CLASSES } from '../enums.ts';
import {
  COMPONENT_NAME,
  COMPONENT_VERSION,
  NETWORK_INTERFACE,
  NUMBERED_VERSION,
  STATE_DIRECTORY,
} from '../patterns.ts';
import { choice, digest, flag, immutable, int, list, listMap, name, named, rules, text } from '../schema.ts';
import { machineComponentPhases } from '../status/phase-tables.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { artifact, file } from './machinecomponent-files.ts';
import { probe } from './machinecomponent-probes.ts';
import { unit } from './machinecomponent-units.ts';

const spec = rules(
  immutable(
    'a version of a component',
    named('MachineComponentSpec', 'One version: artifacts, files, units and probes.', {
      component: text('Name of the component.', { max: 40, pattern: COMPONENT_NAME }),
      version: text('Version of the component.', { max: 40, pattern: COMPONENT_VERSION }),
      description: text('Description for people.').optional(),
      identity: choice(
        'Kubelet: the agent gets a certificate for system:node:<machine> and keeps a kubeconfig.',
        ['None', 'Kubelet'],
      ).default('None'),
      parameters: listMap(
        'Parameters that a set may give values for.',
        ['name'],
        named('ComponentParameter', 'A parameter.', {
          name: name('Name, as in ${param.NAME}.'),
          default: text('Default value. Without it a set must give a value.', { max: 1024 }).optional(),
          description: text('Description for people.').optional(),
        }),
        [0, 32],
      ).default([]),
      ports: listMap(
        'Ports of the component. A sandbox host gives each machine free ports instead.',
        ['name'],
        named('ComponentPort', 'A port.', {
          name: name('Name, as in ${port.NAME}.'),
          port: int('Port number.', [1, 65_535]),
        }),
        [0, 8],
      ).default([]),
      artifacts: listMap(
        'Artifacts to download. Empty: a component of files and units only.',
        ['os', 'arch'],
        artifact,
        [0, 16],
      ).default([]),
      files: listMap('Files to write on the host.', ['path'], file, [0, 64]).default([]),
      units: listMap('Processes and hooks on the host.', ['name'], unit, [0, 8]).default([]),
      probes: listMap('Probes that prove that the component works.', ['name'], probe, [0, 16]).default([]),
      // Without a default, which would change the digest of versions that are in force.
      stateDirectories: list(
        'Directories that the programs make on the host. A release removes those that were not there before the agent.',
        text('A directory.', { max: 128, pattern: STATE_DIRECTORY }),
        [0, 8],
      ).optional(),
      networkInterfaces: list(
        'Network interfaces that the programs make. A release removes those that were not there before the agent.',
        text('A network interface.', { max: 15, pattern: NETWORK_INTERFACE }),
        [0, 8],
      ).optional(),
      activation: named('ComponentActivation', 'What a changed artifact or unit requires.', {
        class: choice(
          'Activation class. Together with onChange of changed files the most disruptive one applies.',
          CLASSES,
        ).default('Restart'),
      }).prefault({}),
      commitAfterSeconds: int(
        'How long probes must pass after activation. Otherwise the previous version is restored.',
        [0, 3600],
      ).default(60),
      keepVersions: int('Number of versions that are kept on the host.', [1, 5]).default(2),
      rollback: named('ComponentRollback', 'Rollback to the previous version.', {
        supported: flag('false: the version is activated even though it cannot be rolled back.').default(
          true,
        ),
      }).prefault({}),
      dependsOn: listMap(
        'Components that must be committed before this one starts.',
        ['component'],
        named('ComponentDependency', 'A dependency.', {
          component: text('Name of the component.', { max: 40, min: 1 }),
          minVersion: text('Minimum version.', { max: 40 }).optional(),
          maxVersion: text('Maximum version.', { max: 40 }).optional(),
        }),
        [0, 16],
      ).default([]),
      compat: named(
        'ComponentCompat',
        'Compatibility of the version. A machine that differs is not started.',
        {
          kubernetes: named(
            'KubernetesRange',
            'Versions of the API servers, such as 1.34: any patch of it.',
            {
              min: text('Minimum version.', { max: 16, pattern: NUMBERED_VERSION }).optional(),
              max: text('Maximum version.', { max: 16, pattern: NUMBERED_VERSION }).optional(),
            },
          ).optional(),
          upgradeFrom: list(
            'Versions that can be upgraded to this one; 1.30 stands for 1.30.4 too. Empty: all.',
            name('A version.', 40),
            [0, 16],
          ).default([]),
          kernelMin: text('Minimum kernel version, such as 6.1.', {
            max: 32,
            pattern: NUMBERED_VERSION,
          }).optional(),
        },
      ).optional(),
    }),
  ),
  {
    rule: 'self.files.map(f, size(f.content)).sum() <= 262144',
    message: 'the contents of all files together may have at most 262144 characters',
    fieldPath: '.files',
  },
  {
    rule: 'self.dependsOn.all(d, d.component != self.component)',
    message: 'a component cannot depend on itself',
    fieldPath: '.dependsOn',
  },
  {
    rule: 'self.probes.all(p, !has(p.unit) || self.units.exists(u, u.name == p.unit.name))',
    message: 'a unit probe must name a unit of this component',
    fieldPath: '.probes',
  },
  {
    rule: 'self.files.all(f, f.units.all(name, self.units.exists(u, u.name == name)))',
    message: 'files[].units must name units of this component',
    fieldPath: '.files',
  },
);

const status = named('MachineComponentStatus', 'Use of this version.', {
  ...statusHead(machineComponentPhases.phases),
  digest: digest('Digest of spec as canonical JSON.').optional(),
  machines: named('ComponentMachines', 'Machine counts.', {
    wanted: count('Machines that should run this version.'),
    current: count('Machines that run this version.'),
    failed: count('Machines on which this version failed.'),
  }).optional(),
  sets: list(
    'The first 20 sets that use this version.',
    name('Name of a MachineComponentSet.'),
    [0, 20],
  ).optional(),
});

export const machineComponent: Kind = {
  kind: 'MachineComponent',
  plural: 'machinecomponents',
  shortName: 'kmc',
  lives: 'cluster',
  description: 'One immutable version of one component: artifacts with sha256, files, units, probes.',
  nameMax: 253,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name == self.spec.component + '-' + self.spec.version",
      message: 'the name must be <component>-<version>',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Component', path: '.spec.component' },
    { name: 'Version', path: '.spec.version' },
    PHASE,
    { name: 'Current', path: '.status.machines.current', type: 'integer' },
    { name: 'Failed', path: '.status.machines.failed', type: 'integer' },
    conditionColumn('Yanked'),
    AGE,
  ],
  phases: machineComponentPhases,
};
