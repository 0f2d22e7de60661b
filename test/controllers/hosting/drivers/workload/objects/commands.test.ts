import { describe, expect, it } from 'vitest';
import { MEMBERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  memberCommand,
  withFlags,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

type Hosted = Parameters<typeof planeRecord>[0];

function argsOf(member: (typeof MEMBERS)[number], hosted: Hosted = {}, isSealed = false): readonly string[] {
  const { addresses } = podParts();
  return memberCommand(member, { ...planeRecord(hosted), isSealed }, addresses).args;
}

describe('memberCommand', () => {
  it('lets a new etcd begin, and one that had data never begin without', () => {
    expect(argsOf('etcd')).toContain('--initial-cluster-state=new');
    expect(argsOf('etcd', {}, true)).toContain('--initial-cluster-state=existing');
    expect(argsOf('etcd').filter((arg) => arg.startsWith('--initial-cluster-state='))).toHaveLength(1);
  });

  it('lets etcd talk to peers on loopback only, and to clients with certificates', () => {
    expect(argsOf('etcd')).toEqual(
      expect.arrayContaining([
        '--listen-peer-urls=https://127.0.0.1:2380',
        '--listen-client-urls=https://0.0.0.0:2379',
        '--advertise-client-urls=https://10.0.0.2:2379',
        '--client-cert-auth',
      ]),
    );
  });

  it('gives the API server the address of etcd, and nodes the address of its Service or of the spec', () => {
    expect(argsOf('kube-apiserver')).toEqual(
      expect.arrayContaining(['--etcd-servers=https://10.0.0.2:2379', '--advertise-address=10.0.0.3']),
    );
    const exposure = { type: 'LoadBalancer', host: '192.0.2.7', port: 443 } as const;
    const exposed = argsOf('kube-apiserver', { exposure });
    expect(exposed).toEqual(expect.arrayContaining(['--advertise-address=192.0.2.7', '--secure-port=443']));
  });

  it('passes the flags of the spec on, each once', () => {
    const extraArgs = { v: '4', 'kube-api-qps': '77' };
    const args = argsOf('kube-controller-manager', { controllerManager: { extraArgs } });
    expect(args).toEqual(
      expect.arrayContaining(['--v=4', '--kube-api-qps=77', '--cluster-cidr=10.244.0.0/16']),
    );
  });

  it.each(MEMBERS)('sets each flag of %s once', (member) => {
    const names = argsOf(member).map((arg) => arg.split('=')[0]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('serves managers to the kubelet with certificates of their own', () => {
    for (const member of ['kube-controller-manager', 'kube-scheduler'] as const) {
      expect(argsOf(member)).toEqual(
        expect.arrayContaining([
          '--bind-address=0.0.0.0',
          '--tls-cert-file=/etc/kubernetes/pki/serving.pem',
          '--kubeconfig=/etc/kubernetes/pki/kubeconfig',
        ]),
      );
    }
  });
});

describe('withFlags', () => {
  it('replaces a flag in its place, and adds one that is new', () => {
    expect(withFlags(['--a=1', '--b', '--c=3'], { b: 'x', d: '' })).toEqual([
      '--a=1',
      '--b=x',
      '--c=3',
      '--d=',
    ]);
  });
});
