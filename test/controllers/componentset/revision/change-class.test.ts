import { describe, expect, it } from 'vitest';
import { type ActivationClass, CLASSES } from '../../../../src/api/enums.ts';
import type { MachineComponentSpec } from '../../../../src/api/generated/types.ts';
import {
  classifyChange,
  type HostContent,
  riskOf,
  type VersionContent,
  worstClass,
} from '../../../../src/controllers/componentset/revision/change-class.ts';
import { agentFile, agentUnit } from '../../../support/agent/targets.ts';

const { component: _component, ...UNIT } = agentUnit('proxy', {
  exec: { argv: ['${dir}/proxy', '--level=${param.level}', '--port=${port.web}'], env: {}, user: 'root' },
  reload: { signal: 'HUP' },
});
const CONF = agentFile('/etc/proxy.conf', 'level ${param.level}', { onChange: 'Reload' });
const ARTIFACT: MachineComponentSpec['artifacts'][number] = {
  os: 'linux',
  arch: 'amd64',
  url: 'https://artifacts.example.com/proxy',
  mirrors: [],
  sha256: 'a'.repeat(64),
  format: 'Raw',
  install: [{ from: 'proxy', to: '/usr/local/bin/proxy', mode: '0755' }],
};
const SPEC: MachineComponentSpec = {
  component: 'proxy',
  version: '1.0',
  identity: 'None',
  parameters: [{ name: 'level', default: 'info' }],
  ports: [{ name: 'web', port: 80 }],
  artifacts: [ARTIFACT],
  files: [CONF],
  units: [UNIT],
  probes: [],
  activation: { class: 'Restart' },
  commitAfterSeconds: 60,
  keepVersions: 2,
  rollback: { supported: true },
  dependsOn: [],
};

function contentOf(spec: Partial<MachineComponentSpec> = {}, parameters = {}): VersionContent {
  return { spec: { ...SPEC, ...spec }, parameters };
}

function classOf(after: HostContent, before: HostContent = contentOf()): ActivationClass {
  return classifyChange(before, after).class;
}

const EACH_FIELD: Readonly<
  Record<
    keyof MachineComponentSpec,
    readonly [change: Partial<MachineComponentSpec>, expected: ActivationClass]
  >
> = {
  component: [{ component: 'proxy2' }, 'None'],
  version: [{ version: '1.1' }, 'None'],
  description: [{ description: 'text' }, 'None'],
  identity: [{ identity: 'Kubelet' }, 'None'],
  parameters: [{ parameters: [{ name: 'level', default: 'debug' }] }, 'Restart'],
  ports: [{ ports: [{ name: 'web', port: 81 }] }, 'Restart'],
  artifacts: [{ artifacts: [{ ...ARTIFACT, sha256: 'b'.repeat(64) }] }, 'Restart'],
  files: [{ files: [{ ...CONF, content: 'other' }] }, 'Reload'],
  units: [{ units: [{ ...UNIT, stop: { signal: 'KILL', timeoutSeconds: 1 } }] }, 'Restart'],
  probes: [
    {
      probes: [
        {
          name: 'p',
          tcp: { port: 'web' },
          periodSeconds: 1,
          timeoutSeconds: 1,
          successThreshold: 1,
          failureThreshold: 1,
        },
      ],
    },
    'None',
  ],
  stateDirectories: [{ stateDirectories: ['/var/lib/proxy'] }, 'None'],
  networkInterfaces: [{ networkInterfaces: ['proxy0'] }, 'None'],
  activation: [{ activation: { class: 'Reboot' } }, 'None'],
  commitAfterSeconds: [{ commitAfterSeconds: 1 }, 'None'],
  keepVersions: [{ keepVersions: 1 }, 'None'],
  rollback: [{ rollback: { supported: false } }, 'None'],
  dependsOn: [{ dependsOn: [{ component: 'runc' }] }, 'None'],
  compat: [{ compat: { upgradeFrom: [] } }, 'None'],
};

type Row<T> = readonly [change: Partial<T>, expected: ActivationClass];
type Artifact = MachineComponentSpec['artifacts'][number];
type File = MachineComponentSpec['files'][number];
type Unit = MachineComponentSpec['units'][number];

/** By the generated types: a field that is added to the schema needs a row. */
const EACH_ARTIFACT_FIELD: Readonly<Record<keyof Artifact, Row<Artifact>>> = {
  os: [{ os: 'windows' as never }, 'Restart'],
  arch: [{ arch: 'arm64' }, 'Restart'],
  url: [{ url: 'https://mirror.example.com/proxy' }, 'None'],
  mirrors: [{ mirrors: ['https://m.example.com/'] }, 'None'],
  sha256: [{ sha256: 'b'.repeat(64) }, 'Restart'],
  sizeBytes: [{ sizeBytes: 7 }, 'None'],
  format: [{ format: 'TarGz' }, 'Restart'],
  install: [{ install: [] }, 'Restart'],
};

const EACH_FILE_FIELD: Readonly<Record<keyof File, Row<File>>> = {
  path: [{ path: '/etc/other.conf' }, 'Reload'],
  content: [{ content: 'other' }, 'Reload'],
  mode: [{ mode: '0600' }, 'None'],
  owner: [{ owner: 'a:a' }, 'None'],
  merge: [{ merge: 'Block' }, 'Reload'],
  drift: [{ drift: 'Ignore' }, 'None'],
  onChange: [{ onChange: 'Reboot' }, 'None'],
  units: [{ units: ['other'] }, 'None'],
};

const EACH_UNIT_FIELD: Readonly<Record<keyof Unit, Row<Unit>>> = {
  name: [{ name: 'other' }, 'Restart'],
  type: [{ type: 'OneShot' }, 'Restart'],
  enabled: [{ enabled: false }, 'Restart'],
  running: [{ running: false }, 'Restart'],
  timeoutSeconds: [{ timeoutSeconds: 7 }, 'Restart'],
  exec: [{ exec: { argv: ['${dir}/proxy'], env: {}, user: 'root' } }, 'Restart'],
  restart: [{ restart: { policy: 'Never' } as never }, 'Restart'],
  stop: [{ stop: { signal: 'KILL', timeoutSeconds: 1 } }, 'Restart'],
  reload: [{ reload: { signal: 'USR1' } as never }, 'Restart'],
  raw: [{ raw: '[Unit]' }, 'Restart'],
  existing: [{ existing: true }, 'Restart'],
  dropIns: [{ dropIns: [{ name: 'a', content: 'b' }] as never }, 'Restart'],
};

describe('classifyChange', () => {
  it.each(Object.entries(EACH_ARTIFACT_FIELD))(
    'ROL-50 knows the class of a change of each field of an artifact: %s',
    (_field, [change, expected]) => {
      expect(classOf(contentOf({ artifacts: [{ ...ARTIFACT, ...change }] }))).toBe(expected);
    },
  );

  it.each(Object.entries(EACH_FILE_FIELD))(
    'ROL-50 knows the class of a change of each field of a file: %s',
    (_field, [change, expected]) => {
      expect(classOf(contentOf({ files: [{ ...CONF, ...change }] }))).toBe(expected);
    },
  );

  it.each(Object.entries(EACH_UNIT_FIELD))(
    'ROL-50 knows the class of a change of each field of a unit: %s',
    (_field, [change, expected]) => {
      expect(classOf(contentOf({ units: [{ ...UNIT, ...change }] }))).toBe(expected);
    },
  );

  it.each(Object.entries(EACH_FIELD))(
    'ROL-50 knows the class of a change of each field: %s',
    (_field, [change, expected]) => {
      expect(classOf(contentOf(change))).toBe(expected);
    },
  );

  it.each<[what: string, change: Partial<MachineComponentSpec>, expected: ActivationClass]>([
    ['url of an artifact', { artifacts: [{ ...ARTIFACT, url: 'https://mirror.example.com/proxy' }] }, 'None'],
    ['mirrors of an artifact', { artifacts: [{ ...ARTIFACT, mirrors: ['https://m.example.com/'] }] }, 'None'],
    ['size of an artifact', { artifacts: [{ ...ARTIFACT, sizeBytes: 7 }] }, 'None'],
    ['links of an artifact', { artifacts: [{ ...ARTIFACT, install: [] }] }, 'Restart'],
    [
      'an artifact for another platform',
      { artifacts: [ARTIFACT, { ...ARTIFACT, arch: 'arm64' }] },
      'Restart',
    ],
    ['all artifacts removed', { artifacts: [] }, 'Restart'],
    ['mode and owner of a file', { files: [{ ...CONF, mode: '0600', owner: 'a:a' }] }, 'None'],
    ['drift of a file', { files: [{ ...CONF, drift: 'Ignore' }] }, 'None'],
    ['merge of a file', { files: [{ ...CONF, merge: 'Block' }] }, 'Reload'],
    ['a file removed', { files: [] }, 'Reload'],
    [
      'a file of class Reboot added',
      { files: [CONF, agentFile('/a', '', { onChange: 'Reboot' })] },
      'Reboot',
    ],
    ['enabled of a unit', { units: [{ ...UNIT, enabled: false }] }, 'Restart'],
    ['a unit added', { units: [UNIT, { ...UNIT, name: 'other' }] }, 'None'],
    ['a unit removed', { units: [] }, 'Restart'],
    [
      'a unit of class Drain',
      { units: [{ ...UNIT, type: 'OneShot' }], activation: { class: 'Drain' } },
      'Drain',
    ],
  ])('ROL-50 knows the class of a change of %s', (_what, change, expected) => {
    expect(classOf(contentOf(change))).toBe(expected);
  });

  it.each<[what: string, change: object]>([
    ['the spec', { sandboxing: true }],
    ['a file', { files: [{ ...CONF, encoding: 'base64' }] }],
    ['an artifact', { artifacts: [{ ...ARTIFACT, signature: 'x' }] }],
    ['a unit', { units: [{ ...UNIT, cpuQuota: '5%' }] }],
  ])('ROL-50 takes an unknown field of %s for Drain, never for None', (_what, change) => {
    const unknown = contentOf(change);
    expect(classOf(unknown)).toBe('Drain');
    expect(classOf(contentOf(), unknown)).toBe('Drain');
    expect(classOf(unknown, unknown)).toBe('None');
  });

  it('ROL-50 keeps a class above Drain when a field is unknown', () => {
    const reboot = { files: [{ ...agentFile('/a', '', { onChange: 'Reboot' }), more: 1 }] };
    expect(classOf(contentOf(reboot as Partial<MachineComponentSpec>))).toBe('Reboot');
  });

  it('ROL-50 takes content that is unknown for Drain', () => {
    expect(classOf(contentOf(), 'Unknown')).toBe('Drain');
    expect(classOf('Unknown')).toBe('Drain');
  });

  it('ROL-50 disturbs nothing by a first installation, and restarts for a removal', () => {
    expect(classOf(contentOf(), 'Absent')).toBe('None');
    expect(classOf('Absent')).toBe('Restart');
  });

  it('ROL-50 compares with parameters, ports and directories replaced', () => {
    expect(classOf(contentOf({}, { level: 'debug' }))).toBe('Restart');
    expect(classOf(contentOf({}, { level: 'info' }))).toBe('None');
    const quiet = { ...UNIT, exec: { argv: ['${dir}/proxy'], env: {}, user: 'root' } };
    const before = contentOf({ units: [quiet] });
    expect(classOf(contentOf({ units: [quiet] }, { level: 'debug' }), before)).toBe('Reload');
    const changed = { units: [quiet], version: '1.1', artifacts: [{ ...ARTIFACT, sha256: 'b'.repeat(64) }] };
    const none = { activation: { class: 'None' as const } };
    expect(classOf(contentOf({ ...changed, ...none }), contentOf({ units: [quiet], ...none }))).toBe(
      'Restart',
    );
  });

  it('ROL-50 restarts for another format of an artifact for any platform', () => {
    const arm = { ...ARTIFACT, arch: 'arm64' } as const;
    const before = contentOf({ artifacts: [ARTIFACT, arm] });
    const after = contentOf({ artifacts: [ARTIFACT, { ...arm, format: 'TarGz' }] });
    expect(classOf(after, before)).toBe('Restart');
  });

  it('explains the change', () => {
    expect(classifyChange(contentOf(), contentOf({ files: [] })).because).toBe(
      'file /etc/proxy.conf changed',
    );
  });
});

describe('worstClass', () => {
  it('ROL-50 is the worst of all components', () => {
    expect(worstClass(['Reload', 'Drain', 'None'])).toBe('Drain');
    expect(worstClass([])).toBe('None');
  });
});

describe('riskOf', () => {
  it('ROL-10 asks for the risk of the class, and for none where a Node has never served', () => {
    expect(CLASSES.map((each) => riskOf(each, true))).toEqual(['None', 'None', 'Pod', 'Node', 'Node']);
    expect(CLASSES.map((each) => riskOf(each, false))).toEqual(['None', 'None', 'None', 'None', 'None']);
  });
});
