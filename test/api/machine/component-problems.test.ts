import { describe, expect, it } from 'vitest';
import type {
  ComponentProbe,
  ComponentUnit,
  MachineComponentSpec,
} from '../../../src/api/generated/types.ts';
import { componentProblems, findUnknownPlaceholders } from '../../../src/api/machine/component-problems.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { agentFile } from '../../support/agent/targets.ts';

const X = '${x}';
const [UNIT] = componentSpec('1.0').units as [ComponentUnit];
const PROBE = { name: 'p', periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 1 };

function unit(fields: Partial<ComponentUnit>): Partial<MachineComponentSpec> {
  return { units: [{ ...UNIT, ...fields }] };
}

function probe(fields: Partial<ComponentProbe>): Partial<MachineComponentSpec> {
  return { probes: [{ ...PROBE, ...fields }] };
}

describe('componentProblems', () => {
  it('names the URL of a registry that is not one', () => {
    const artifact = { os: 'any', arch: 'any', sha256: '', format: 'Oci', install: [] } as const;
    const artifacts = [
      {
        ...artifact,
        url: 'oci://registry.example.com/a:1',
        mirrors: ['https://a/b', 'oci://registry.example.com'],
      },
      { ...artifact, url: 'oci://registry.example.com/A', mirrors: [] },
    ];
    const expected = 'expected oci://REGISTRY/REPOSITORY[:TAG][@sha256:MANIFEST], got';
    expect(componentProblems(componentSpec('1.0', { artifacts }))).toEqual([
      { path: 'spec.artifacts[0].mirrors[1]', message: `${expected} oci://registry.example.com` },
      { path: 'spec.artifacts[1].url', message: `${expected} oci://registry.example.com/A` },
    ]);
  });
});

describe('findUnknownPlaceholders', () => {
  it.each<[path: string, fields: Partial<MachineComponentSpec>]>([
    ['spec.files[1].content', { files: [agentFile('/a', '${dir}'), agentFile('/b', X)] }],
    ['spec.units[0].exec.argv[1]', unit({ exec: { argv: ['/bin/a', X], env: {}, user: 'root' } })],
    ['spec.units[0].exec.env.PLACE', unit({ exec: { argv: ['/bin/a'], env: { PLACE: X }, user: 'root' } })],
    [
      'spec.units[0].exec.workingDirectory',
      unit({ exec: { argv: ['/bin/a'], env: {}, user: 'root', workingDirectory: X } }),
    ],
    ['spec.units[0].reload.argv[0]', unit({ reload: { argv: [X] } })],
    ['spec.units[0].dropIns[0].content', unit({ dropIns: [{ name: 'a', content: X }] })],
    ['spec.units[0].raw', unit({ raw: X })],
    ['spec.probes[0].exec.argv[0]', probe({ exec: { argv: [X] } })],
    ['spec.probes[0].socket.path', probe({ socket: { path: X } })],
    ['spec.probes[0].grpc.path', probe({ grpc: { path: X, service: '' } })],
    ['spec.probes[0].http.path', probe({ http: { port: '80', path: X } as never })],
  ])('names the field %s', (path, fields) => {
    expect(findUnknownPlaceholders(componentSpec('1.0', fields))).toEqual([
      {
        path,
        message: expect.stringMatching(/^unknown placeholder \$\{x\}: known are \$\{dir\}, /) as string,
      },
    ]);
  });

  it('knows what the component declares, and what it may use with the identity of the kubelet', () => {
    const files = [agentFile('/a', '${param.level} ${port.web} ${identity.kubeconfig} ${HOME} $(pwd)')];
    const declared = { files, parameters: [{ name: 'level' }], ports: [{ name: 'web', port: 80 }] };
    expect(findUnknownPlaceholders(componentSpec('1.0', { ...declared, identity: 'Kubelet' }))).toEqual([]);
    const [problem] = findUnknownPlaceholders(componentSpec('1.0', declared));
    expect(problem?.message).toContain('unknown placeholder ${identity.kubeconfig}: known are ');
    expect(problem?.message).toMatch(/\$\{param\.level\}, \$\{port\.web\}$/);
  });
});

function link(to: string): { from: string; to: string; mode: string } {
  return { from: 'a', to, mode: '0755' };
}

describe('componentProblems', () => {
  const [ARTIFACT] = componentSpec('1.0').artifacts as [MachineComponentSpec['artifacts'][number]];

  it('finds nothing in a valid version, and every unknown placeholder in another', () => {
    expect(componentProblems(componentSpec('1.0'))).toEqual([]);
    expect(componentProblems(componentSpec('1.0', unit({ raw: X })))).toHaveLength(1);
  });

  it('finds two names of one port', () => {
    const ports = [
      { name: 'web', port: 80 },
      { name: 'tls', port: 443 },
      { name: 'http', port: 80 },
    ];
    expect(componentProblems(componentSpec('1.0', { ports }))).toEqual([
      { path: 'spec.ports[2].port', message: 'is also the port of web' },
    ]);
  });

  it('finds links that take the path of a file or of another link, of one platform', () => {
    const install = [link('/usr/bin/a'), link('/etc/a'), link('/usr/bin/a')];
    const artifacts = [
      { ...ARTIFACT, install },
      { ...ARTIFACT, install: [link('/usr/bin/a')] },
    ];
    const problems = componentProblems(componentSpec('1.0', { artifacts, files: [agentFile('/etc/a', '')] }));
    expect(problems.map(({ path }) => path)).toEqual([
      'spec.artifacts[0].install[1].to',
      'spec.artifacts[0].install[2].to',
    ]);
  });
});
