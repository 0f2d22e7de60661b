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

  it.each([['exposure.port', { exposure: { ...HOSTED.exposure, port: 7443 } }]])(
    'name the field %s, on which hosting does not act',
    (path, hosted) => {
      expect(problems({ hosted })[0]).toMatch(`spec.hosted.${path}: not supported in this version`);
    },
  );

  it('HOS-52 are not raised by an address for other machines, and name a host that is not one', () => {
    const exposure = { ...HOSTED.exposure, host: 'CI.example.com', port: 7443 };
    expect(problems({ hosted: { exposure } })).toEqual([]);
    expect(problems({ hosted: { exposure: { ...exposure, host: 'ci.example.com:7443' } } })).toEqual([
      'spec.hosted.exposure.host: ci.example.com:7443 is refused: it is neither a DNS name nor an address: use one such as ci.example.com, 192.0.2.10 or 2001:db8::10, without port and brackets',
    ]);
    const type = { ...exposure, type: 'LoadBalancer' as const };
    expect(problems({ hosted: { exposure: type } })[0]).toMatch(
      /^spec\.hosted\.exposure\.type: .*processes have no Service, and with exposure\.host .*: use ClusterIP$/,
    );
  });

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

  it('HOS-22 name no rotation of the authorities, with either driver and any number of API servers', () => {
    const pki = { ...HOSTED.pki, caRotation: { id: '2026', target: 'Prepare' as const } };
    for (const driver of ['process', 'workload'] as const) {
      expect(problems({ hosted: { pki, driver } })).toEqual([]);
      expect(problems({ hosted: { pki, driver, replicas: 3 } })).toEqual([]);
    }
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
