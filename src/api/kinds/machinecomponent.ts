/** MachineComponent: one immutable version of one component. */
import { count, statusHead } from '../common.ts';
import { CLASSES } from '../enums.ts';
import { COMPONENT_NAME, COMPONENT_VERSION } from '../patterns.ts';
import { machineComponentPhases } from '../phases.ts';
import { choice, digest, flag, immutable, int, list, listMap, name, named, rules, text } from '../schema.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { artifact, file } from './machinecomponent-files.ts';
import { probe } from './machinecomponent-probes.ts';
import { unit } from './machinecomponent-units.ts';

const spec = rules(
  immutable(
    'a version of a component',
    named('MachineComponentSpec', 'One version: artifacts, files, units and probes.', {
      component: text('What is installed.', { max: 40, pattern: COMPONENT_NAME }),
      version: text('Its version.', { max: 40, pattern: COMPONENT_VERSION }),
      description: text('What it is, for people.').optional(),
      identity: choice(
        'Kubelet: the agent gets a certificate for system:node:<machine> and keeps a kubeconfig.',
        ['None', 'Kubelet'],
      ).default('None'),
      parameters: listMap(
        'What a set may say for each machine.',
        ['name'],
        named('ComponentParameter', 'One parameter.', {
          name: name('Its name, as in ${param.NAME}.'),
          default: text('Its value unless a set gives one; absent: a set must.', { max: 1024 }).optional(),
          description: text('What it is, for people.').optional(),
        }),
        [0, 32],
      ).default([]),
      ports: listMap(
        'Ports; a sandbox gives each machine a free one instead.',
        ['name'],
        named('ComponentPort', 'One port.', {
          name: name('Its name, as in ${port.NAME}.'),
          port: int('Its number.', [1, 65_535]),
        }),
        [0, 8],
      ).default([]),
      artifacts: listMap(
        'What is fetched; none: a component of files and units only.',
        ['os', 'arch'],
        artifact,
        [0, 16],
      ).default([]),
      files: listMap('Files on the host.', ['path'], file, [0, 64]).default([]),
      units: listMap('Processes.', ['name'], unit, [0, 8]).default([]),
      probes: listMap('What proves that it works.', ['name'], probe, [0, 16]).default([]),
      activation: named('ComponentActivation', 'What a changed artifact or unit costs.', {
        class: choice('With onChange of the files the worst counts.', CLASSES).default('Restart'),
      }).prefault({}),
      commitAfterSeconds: int(
        'Probes must pass this long, else the version before returns.',
        [0, 3600],
      ).default(60),
      keepVersions: int('Versions that stay on the host.', [1, 5]).default(2),
      rollback: named('ComponentRollback', 'The way back.', {
        supported: flag('false: it is activated although there is no way back.').default(true),
      }).prefault({}),
      dependsOn: listMap(
        'Components that are committed before this one starts.',
        ['component'],
        named('ComponentDependency', 'One of them.', {
          component: text('The component.', { max: 40, min: 1 }),
          minVersion: text('Its lowest version.', { max: 40 }).optional(),
          maxVersion: text('Its highest version.', { max: 40 }).optional(),
        }),
        [0, 16],
      ).default([]),
      compat: named('ComponentCompat', 'What it fits.', {
        kubernetes: named('KubernetesRange', 'Versions of Kubernetes.', {
          min: text('The lowest.', { max: 16 }).optional(),
          max: text('The highest.', { max: 16 }).optional(),
        }).optional(),
        upgradeFrom: list(
          'Versions of itself that it can follow; none: all.',
          name('A version.', 40),
          [0, 16],
        ).default([]),
        kernelMin: text('The lowest kernel.', { max: 32 }).optional(),
      }).optional(),
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

const status = named('MachineComponentStatus', 'Who uses this version.', {
  ...statusHead(machineComponentPhases.phases),
  digest: digest('Digest of spec as canonical JSON.').optional(),
  machines: named('ComponentMachines', 'Machines.', {
    wanted: count('That must run it.'),
    current: count('That run it.'),
    failed: count('On which it failed.'),
  }).optional(),
  sets: list('The first sets that use it.', name('A set.'), [0, 20]).optional(),
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
