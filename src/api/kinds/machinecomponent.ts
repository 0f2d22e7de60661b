/** MachineComponent: one immutable version of one component. */
import { count, statusHead } from '../common.ts';
import { CLASSES } from '../enums.ts';
import { ARTIFACT_URL, COMPONENT_NAME, COMPONENT_VERSION, FILE_MODE, SHA256 } from '../patterns.ts';
import { machineComponentPhases } from '../phases.ts';
import {
  bigInt,
  choice,
  digest,
  flag,
  immutable,
  int,
  list,
  listMap,
  map,
  name,
  named,
  rules,
  type Schema,
  text,
} from '../schema.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

const URL = { max: 512, pattern: ARTIFACT_URL } as const;

function mode(sentence: string, usual: string): Schema {
  return text(sentence, { max: 4, pattern: FILE_MODE }).default(usual);
}

function command(sentence: string, [min, max]: readonly [number, number], length = 256): Schema {
  return list(sentence, text('A word of it.', { max: length }), [min, max]);
}

const artifact = named('ComponentArtifact', 'What is fetched for one platform.', {
  os: choice('Operating system.', ['linux', 'darwin', 'any']),
  arch: choice('Architecture.', ['amd64', 'arm64', 'any']),
  url: text('Where it is; http is safe, as sha256 pins the content.', URL),
  mirrors: list('Where else it is.', text('A URL.', URL), [0, 4]).default([]),
  sha256: text('Digest of the content, hex.', { max: 64, pattern: SHA256 }),
  sizeBytes: bigInt('Size of the content.').optional(),
  format: choice('Raw is placed in ${dir} under the name of the component.', ['Raw', 'TarGz', 'Oci']).default(
    'Raw',
  ),
  install: list(
    "Links from the host into the version's folder.",
    named('ComponentLink', 'One link.', {
      from: name('Path in the folder.', 256),
      to: name('Path on the host.', 256),
      mode: mode('Mode of the file.', '0755'),
    }),
    [0, 32],
  ).default([]),
});

const file = rules(
  named('ComponentFile', 'A file on the host.', {
    path: name('Where.', 256),
    content: text('What is in it. No token ever stands here.', { max: 65_536 }),
    mode: mode('Its mode.', '0644'),
    owner: text('user:group.', { max: 128, min: 1 }).default('root:root'),
    merge: choice('All but Replace leave foreign parts of the file alone.', [
      'Replace',
      'Block',
      'Json',
      'Ini',
    ]).default('Replace'),
    drift: choice('What to do when somebody changes it.', ['Correct', 'Report', 'Ignore']).default('Correct'),
    onChange: choice('What a change of it costs.', CLASSES).default('Restart'),
  }),
  {
    rule: "self.path.startsWith('/') && !self.path.contains('..') && (self.drift != 'Correct' || !self.path.startsWith('/var/lib/kubelet/pki'))",
    message:
      'path must be absolute and without "..", and files of the kubelet under /var/lib/kubelet/pki may not be corrected',
    fieldPath: '.path',
  },
);

const unit = rules(
  named('ComponentUnit', 'A process.', {
    name: text('Its name, without ".service".', { max: 63, pattern: COMPONENT_NAME }),
    type: choice('OneShot runs once, with a limit in time: hooks, sysctls, modules.', [
      'Service',
      'OneShot',
    ]).default('Service'),
    enabled: flag('Starts at boot.').default(true),
    running: flag('Runs now.').default(true),
    timeoutSeconds: int('How long a OneShot may run.', [1, 3600]).default(300),
    exec: named('UnitExec', 'What runs.', {
      argv: command('The command.', [1, 64], 512),
      env: map('Its environment.', text('The value.', { max: 1024 }), 32).default({}),
      workingDirectory: text('Where it runs.').optional(),
      user: name('As whom.').default('root'),
    }).optional(),
    restart: named('UnitRestart', 'When it is started again.', {
      policy: choice('When.', ['Always', 'OnFailure', 'Never']).default('Always'),
      delaySeconds: int('After how long.').default(5),
      maxPerMinute: int('How often at most.').default(10),
    }).prefault({}),
    stop: named('UnitStop', 'How it is stopped.', {
      signal: choice('The signal.', ['TERM', 'INT', 'QUIT', 'KILL']).default('TERM'),
      timeoutSeconds: int('After how long it is killed.').default(30),
    }).prefault({}),
    reload: named('UnitReload', 'How it reads its files again.', {
      signal: choice('The signal.', ['HUP', 'USR1', 'USR2']).optional(),
      argv: command('Or a command.', [0, 64]).optional(),
    }).optional(),
    raw: text('Text of a systemd unit, instead of exec.', { max: 16_384 }).optional(),
    dropIns: listMap(
      'Additions to a unit; systemd only.',
      ['name'],
      named('UnitDropIn', 'One addition.', {
        name: name('Name of the file.'),
        content: text('What is in it.', { max: 4096 }),
      }),
      [0, 4],
    ).default([]),
  }),
  { rule: 'has(self.exec) != has(self.raw)', message: 'give either exec or raw (text of a systemd unit)' },
);

const portName = name('Name of a port of `ports`.');

const probe = rules(
  named(
    'ComponentProbe',
    'Proves that the component works: exactly one of http, tcp, exec, unit and nodeCondition.',
    {
      name: name('What it is called in messages.'),
      http: named('HttpProbe', 'An HTTP GET that must answer 2xx or 3xx.', {
        port: portName,
        path: text('The path.').default('/'),
        scheme: choice('How.', ['HTTP', 'HTTPS']).default('HTTP'),
      }).optional(),
      tcp: named('TcpProbe', 'A port that must accept a connection.', { port: portName }).optional(),
      exec: named('ExecProbe', 'A command that must end with 0.', {
        argv: command('The command.', [1, 16]),
      }).optional(),
      unit: named('UnitProbe', 'A unit that must be active.', {
        name: name('Name of a unit of `units`.'),
      }).optional(),
      nodeCondition: named('NodeConditionProbe', 'A condition of the Node.', {
        type: name('Its type.'),
        status: choice('What it must be.', ['True', 'False']),
      }).optional(),
      periodSeconds: int('How often.', [1, 3600]).default(5),
      timeoutSeconds: int('How long it may take.', [1, 3600]).default(2),
      successThreshold: int('Passes in a row that make it good.', [1, 100]).default(1),
      failureThreshold: int('Failures in a row that make it bad.', [1, 100]).default(3),
    },
  ),
  {
    rule: '[has(self.http), has(self.tcp), has(self.exec), has(self.unit), has(self.nodeCondition)].exists_one(x, x)',
    message: 'give exactly one of http, tcp, exec, unit and nodeCondition',
  },
);

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
