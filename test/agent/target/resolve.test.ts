import { describe, expect, it } from 'vitest';
import type { TargetFacts } from '../../../src/agent/target/facts.ts';
import { resolveTarget } from '../../../src/agent/target/resolve.ts';
import type {
  ComponentArtifact,
  ComponentUnit,
  MachineComponentEntry,
  MachineComponentSpec,
} from '../../../src/api/generated/types.ts';
import { entryDigest } from '../../../src/api/machine/entry-content.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { agentFile, agentUnit } from '../../support/agent/targets.ts';

const KNOWN =
  '${dir}, ${data}, ${machine.name}, ${machine.address}, ${machine.zone}, ${cluster.server}, ${cluster.caFile}';

const MACHINE: TargetFacts = {
  name: 'n1',
  address: '10.0.0.7',
  zone: 'a',
  os: 'linux',
  arch: 'amd64',
  clusterServer: 'https://10.0.0.1:6443',
  hostDirectory: '/',
  systemdUnits: true,
  portOf: (_component, { port }) => port + 1,
};

function artifact(
  os: ComponentArtifact['os'],
  arch: ComponentArtifact['arch'],
  fields: Partial<ComponentArtifact> = {},
): ComponentArtifact {
  return {
    os,
    arch,
    url: `https://x/${os}-${arch}`,
    mirrors: [],
    sha256: 'a'.repeat(64),
    format: 'Raw',
    install: [],
    ...fields,
  };
}

function spec(fields: Partial<MachineComponentSpec> = {}): MachineComponentSpec {
  return {
    component: 'proxy',
    version: '1.0',
    identity: 'None',
    parameters: [],
    ports: [],
    artifacts: [],
    files: [],
    units: [],
    probes: [],
    activation: { class: 'Restart' },
    commitAfterSeconds: 60,
    keepVersions: 2,
    rollback: { supported: true },
    dependsOn: [],
    ...fields,
  };
}

function entry(of: MachineComponentSpec, fields: Partial<MachineComponentEntry> = {}): MachineComponentEntry {
  return {
    name: 'proxy',
    componentRef: 'proxy-1.0',
    digest: digestOf(of),
    state: 'Present',
    parameters: {},
    ...fields,
  };
}

function problem(of: MachineComponentSpec, fields: Partial<MachineComponentEntry> = {}): string {
  const found = resolveTarget(entry(of, fields), of, MACHINE);
  return 'problem' in found ? `${found.problem.code}: ${found.problem.message}` : 'none';
}

function resolved(
  of: MachineComponentSpec,
  fields: Partial<MachineComponentEntry> = {},
): ReturnType<typeof targetOf> {
  return targetOf(resolveTarget(entry(of, fields), of, MACHINE));
}

function targetOf(
  found: ReturnType<typeof resolveTarget>,
): Extract<typeof found, { target: unknown }>['target'] {
  if ('problem' in found) throw new Error(found.problem.message);
  return found.target;
}

describe('resolveTarget', () => {
  it('replaces every placeholder', () => {
    const names = [
      'dir',
      'data',
      'machine.name',
      'machine.address',
      'machine.zone',
      'cluster.server',
      'cluster.caFile',
      'identity.kubeconfig',
      'param.level',
      'param.size',
      'port.web',
    ];
    const of = spec({
      identity: 'Kubelet',
      parameters: [{ name: 'level', default: 'info' }, { name: 'size' }],
      ports: [{ name: 'web', port: 80 }],
      files: [agentFile('/a', names.map((name) => `\${${name}}`).join('\n'))],
    });
    const digest = digestOf(of).slice(7, 15);
    expect(resolved(of, { parameters: { size: '9' } }).files[0]?.content.split('\n')).toEqual([
      `/opt/kubenode/proxy/1.0-${digest}`,
      '/var/lib/kubenode/data/proxy',
      'n1',
      '10.0.0.7',
      'a',
      'https://10.0.0.1:6443',
      '/var/lib/kubenode/pki/cluster-ca.crt',
      '/var/lib/kubenode/pki/kubelet/kubeconfig',
      'info',
      '9',
      '81',
    ]);
  });

  it('names its own paths in a sandbox where programs find them, and leaves all others', () => {
    const argv = [
      '${dir}/proxy',
      '--config=/etc/proxy/a.yaml',
      '/etc/proxy/a.yaml.d',
      '/usr/local/bin/proxy',
      '/bin/sh',
    ];
    const of = spec({
      artifacts: [
        artifact('any', 'any', { install: [{ from: 'proxy', to: '/usr/local/bin/proxy', mode: '0755' }] }),
      ],
      files: [agentFile('/etc/proxy/a.yaml', 'data: ${data}\nself: "/etc/proxy/a.yaml".')],
      units: [agentUnit('proxy', { exec: { argv, env: {}, user: 'root' } })],
    });
    const sandbox = { ...MACHINE, hostDirectory: '/tmp/box', systemdUnits: false };
    const found = targetOf(resolveTarget(entry(of), of, sandbox));
    expect(found.units[0]?.exec?.argv).toEqual([
      `/tmp/box${found.directory}/proxy`,
      '--config=/tmp/box/etc/proxy/a.yaml',
      '/etc/proxy/a.yaml.d',
      '/tmp/box/usr/local/bin/proxy',
      '/bin/sh',
    ]);
    expect(found.files[0]).toMatchObject({
      path: '/etc/proxy/a.yaml',
      content: 'data: /tmp/box/var/lib/kubenode/data/proxy\nself: "/tmp/box/etc/proxy/a.yaml".',
    });
  });

  it.each<[string, Partial<ComponentUnit>]>([
    ['raw', { raw: '[Service]' }],
    ['existing', { existing: true }],
    ['dropIns', { dropIns: [{ name: 'a', content: 'b' }] }],
  ])('refuses a unit with %s in a sandbox only', (_name, fields) => {
    const of = spec({ units: [agentUnit('proxy', fields)] });
    expect(resolveTarget(entry(of), of, { ...MACHINE, systemdUnits: false })).toEqual({
      problem: {
        code: 'NotSupported',
        message: 'proxy-1.0: unit proxy needs systemd, and this machine is a sandbox',
      },
    });
    expect(problem(of)).toBe('none');
  });

  it.each([
    [
      'its own platform',
      [artifact('any', 'any'), artifact('linux', 'any'), artifact('linux', 'amd64')],
      'https://x/linux-amd64',
    ],
    [
      'any architecture',
      [artifact('any', 'any'), artifact('linux', 'any'), artifact('linux', 'arm64')],
      'https://x/linux-any',
    ],
    ['any platform', [artifact('darwin', 'amd64'), artifact('any', 'any')], 'https://x/any-any'],
  ])('chooses the artifact for %s', (_name, artifacts, url) => {
    expect(resolved(spec({ artifacts })).artifact?.url).toBe(url);
  });

  it.each<[string, MachineComponentSpec, Partial<MachineComponentEntry>, string]>([
    [
      'another content',
      spec(),
      { digest: `sha256:${'0'.repeat(64)}` },
      `WrongDigest: the content of proxy-1.0 has digest ${digestOf(spec())}, the entry names sha256:${'0'.repeat(64)}`,
    ],
    [
      'another component',
      spec({ component: 'other' }),
      {},
      'WrongComponent: proxy-1.0 is a version of other, not of proxy',
    ],
    [
      'a parameter without a value',
      spec({ parameters: [{ name: 'size' }] }),
      {},
      'MissingParameter: proxy-1.0 needs a value for size',
    ],
    [
      'no artifact for this platform',
      spec({ artifacts: [artifact('linux', 'arm64')] }),
      {},
      'NoArtifact: proxy-1.0 has no artifact for linux/amd64',
    ],
    [
      'an unknown placeholder',
      spec({ files: [agentFile('/a', '${secret.x} ${param.x}')] }),
      {},
      `UnknownPlaceholder: unknown placeholder \${secret.x}, \${param.x} in proxy-1.0: known are ${KNOWN}`,
    ],
    [
      'an identity that it does not ask for',
      spec({ files: [agentFile('/a', '${identity.kubeconfig}')] }),
      {},
      `UnknownPlaceholder: unknown placeholder \${identity.kubeconfig} in proxy-1.0: known are ${KNOWN}`,
    ],
    ['nothing wrong', spec(), {}, 'none'],
  ])('refuses %s', (_name, of, fields, expected) => {
    expect(problem(of, fields)).toBe(expected);
  });

  it('AGT-23 gives the same id whatever assignment and grant are, and another one for other parameters', () => {
    const of = spec({ parameters: [{ name: 'level', default: 'info' }] });
    const plain = entry(of);
    const grant = {
      id: 'g',
      fence: 1,
      entryDigest: `sha256:${'0'.repeat(64)}`,
      notAfter: '2030-01-01T00:00:00Z',
    };
    expect(entryDigest({ ...plain, grant, assignment: { revision: 'r', set: 's' } })).toBe(
      entryDigest(plain),
    );
    expect(entryDigest({ ...plain, parameters: { level: 'debug' } })).not.toBe(entryDigest(plain));
  });
});
