import { describe, expect, it } from 'vitest';
import { hostingProblems } from '../../../../src/controllers/hosting/plan/problems.ts';
import { HOSTED, hostedCluster } from '../../../support/hosting/objects.ts';

function problems(hosted: Parameters<typeof hostedCluster>[0] & object = {}): readonly string[] {
  const cluster = hostedCluster(hosted);
  return hostingProblems(cluster, cluster.spec.hosted ?? HOSTED);
}

describe('the problems of a Cluster that is to be hosted', () => {
  it('are none for the defaults', () => {
    expect(problems()).toEqual([]);
  });

  it.each([['exposure.host', { exposure: { ...HOSTED.exposure, host: 'ci.example.com' } }]])(
    'name the field %s, on which hosting does not act',
    (path, hosted) => {
      expect(problems({ hosted })[0]).toMatch(`spec.hosted.${path}: not supported in this version`);
    },
  );

  it('are none for pods with a size, requests and an address', () => {
    const hosted = {
      driver: 'workload' as const,
      etcd: {
        ...HOSTED.etcd,
        storageGiB: 32,
        backup: { everySeconds: 300, keep: 1 },
        restoreFrom: 'latest',
      },
      apiServer: { extraArgs: {}, cpuMillis: 500 },
      exposure: { type: 'LoadBalancer' as const, host: 'ci.example.com', port: 443 },
    };
    expect(problems({ hosted })).toEqual([]);
  });

  it('name the address that a node port needs', () => {
    const exposure = { type: 'NodePort' as const, port: 6443 };
    expect(problems({ hosted: { driver: 'workload', exposure } })).toEqual([
      'spec.hosted.exposure.host: NodePort needs the name or address of a node, or of a load balancer in front of the nodes',
    ]);
  });

  it('name a rotation of the authorities of several API servers', () => {
    const pki = { ...HOSTED.pki, caRotation: { id: '2026', target: 'Prepare' as const } };
    expect(problems({ hosted: { pki } })).toEqual([]);
    expect(problems({ hosted: { pki, replicas: 2 } })).toEqual([
      'spec.hosted.pki.caRotation: the authorities of a control plane with several API servers are not rotated yet: set spec.hosted.replicas to 1 until the rotation is completed, or remove caRotation',
    ]);
  });

  it('name a range that is not of IPv4', () => {
    const network = { ...HOSTED.network, serviceCIDR: 'fd00::/108' };
    expect(problems({ hosted: { network } })).toEqual([
      'spec.hosted.network.serviceCIDR: fd00::/108 is not an IPv4 range: use one such as 10.244.0.0/16',
    ]);
  });

  it.each(['a.b', 'hub', 'a'.repeat(53)])('name a Cluster that is called %s', (name) => {
    expect(problems({ name })[0]).toMatch(`metadata.name: ${name} cannot be the name of a hosted cluster`);
  });

  it.each(['ä.local', 'a b', '.local', 'local.', 'A,DNS:hub'])('name the domain %j', (serviceDomain) => {
    const network = { ...HOSTED.network, serviceDomain };
    expect(problems({ hosted: { network } })).toEqual([
      `spec.hosted.network.serviceDomain: ${serviceDomain} is not a DNS name: use one such as cluster.local`,
    ]);
  });

  it('name a lifetime of a Cluster that is protected', () => {
    const hosted = { ttlSecondsAfterReady: 60 };
    expect(problems({ hosted })).toEqual([]);
    expect(problems({ hosted, deletion: { protection: true } })[0]).toMatch(
      'a protected Cluster is never deleted by its age: set spec.deletion.protection to false',
    );
  });

  it('look at the flags of every part', () => {
    const extraArgs = { kubeconfig: 'x' };
    const parts = { controllerManager: { extraArgs }, scheduler: { extraArgs } };
    expect(problems({ hosted: parts }).map((text) => text.split(':')[0])).toEqual([
      'spec.hosted.controllerManager.extraArgs.kubeconfig',
      'spec.hosted.scheduler.extraArgs.kubeconfig',
    ]);
  });
});
