import { describe, expect, it } from 'vitest';
import { hostingProblems } from '../../../../src/controllers/hosting/plan/problems.ts';
import { HOSTED, hostedCluster } from '../../../support/hosting/objects.ts';

function problems(hosted: Parameters<typeof hostedCluster>[0] & object = {}): readonly string[] {
  const cluster = hostedCluster(hosted);
  return hostingProblems(cluster, cluster.spec.hosted ?? HOSTED);
}

function ofFlag(name: string, value = 'x'): readonly string[] {
  return problems({ hosted: { apiServer: { extraArgs: { [name]: value } } } });
}

describe('the problems of a Cluster that is to be hosted', () => {
  it('are none for the defaults', () => {
    expect(problems()).toEqual([]);
  });

  it.each([
    ['driver', { driver: 'workload' as const }],
    ['replicas', { replicas: 2 }],
    ['etcd.replicas', { etcd: { ...HOSTED.etcd, replicas: 3 as const } }],
    ['retryToken', { retryToken: 'again' }],
    ['exposure.host', { exposure: { ...HOSTED.exposure, host: 'ci.example.com' } }],
  ])('name the field %s, on which hosting does not act', (path, hosted) => {
    expect(problems({ hosted })[0]).toMatch(`spec.hosted.${path}: not supported in this version`);
  });

  it('name a range that is not of IPv4', () => {
    const network = { ...HOSTED.network, serviceCIDR: 'fd00::/108' };
    expect(problems({ hosted: { network } })).toEqual([
      'spec.hosted.network.serviceCIDR: fd00::/108 is not an IPv4 range: use one such as 10.244.0.0/16',
    ]);
  });

  it('allow a flag of a feature', () => {
    expect(ofFlag('feature-gates', 'SomeGate=true')).toEqual([]);
    expect(ofFlag('v', '4')).toEqual([]);
  });

  it.each([
    'etcd-servers',
    'authorization-mode',
    'anonymous-auth',
    'bind-address',
    'tls-cert-file',
    'client-ca-file',
  ])('refuse %s, which hosting sets itself', (name) => {
    expect(ofFlag(name)[0]).toMatch(`spec.hosted.apiServer.extraArgs.${name}: hosting sets this flag itself`);
  });

  it.each([
    ['audit-log-path', '/etc/passwd'],
    ['token-auth-file', 'relative'],
    ['egress-selector-config-file', 'x'],
    ['cert-dir', 'x'],
    ['anything', '/etc/shadow'],
    ['anything', 'a=/etc/shadow'],
  ])('refuse %s=%s, which may be a file of the machine', (name, value) => {
    expect(ofFlag(name, value)[0]).toContain('a Cluster may name no file of the machine that hosts it');
  });

  it.each(['', '-x', 'a b', 'UPPER', '--twice', 'a=b'])(
    'refuse %j, which is not the name of a flag',
    (name) => {
      expect(ofFlag(name)[0]).toContain('it is not the name of a flag');
    },
  );

  it('look at the flags of every part', () => {
    const extraArgs = { kubeconfig: 'x' };
    const parts = { controllerManager: { extraArgs }, scheduler: { extraArgs } };
    expect(problems({ hosted: parts }).map((text) => text.split(':')[0])).toEqual([
      'spec.hosted.controllerManager.extraArgs.kubeconfig',
      'spec.hosted.scheduler.extraArgs.kubeconfig',
    ]);
  });
});
