import { describe, expect, it } from 'vitest';
import { type EtcdMember, MEMBERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  memberCommand,
  withFlags,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { HOSTED } from '../../../../../support/hosting/objects.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

type Hosted = Parameters<typeof planeRecord>[0];

function argsOf(member: (typeof MEMBERS)[number], hosted: Hosted = {}, isSealed = false): readonly string[] {
  return memberCommand(member, { ...podParts(), plane: { ...planeRecord(hosted), isSealed } }).args;
}

const ADDRESSES = { etcd: ['10.0.0.2', '10.0.0.4', '10.0.0.5'], apiServer: '10.0.0.3' };
const THREE: Hosted = { etcd: { ...HOSTED.etcd, replicas: 3 } };

interface SeveralParts {
  readonly isSealed?: boolean;
  readonly initialCluster?: string;
  readonly version?: string;
}

/** Returns the flags about peers of a member of three. */
function peerFlags(
  member: EtcdMember,
  { isSealed = false, initialCluster, version = 'v3.6.8' }: SeveralParts = {},
): Readonly<Record<string, string>> {
  const members = initialCluster === undefined ? {} : { [member]: { initialCluster } };
  const plane = { ...planeRecord(THREE), isSealed, members };
  const { args } = memberCommand(member, { plane, addresses: ADDRESSES, version });
  const flags = args.map((arg) => arg.replace(/^--/, '').split('=') as [string, string?]);
  return Object.fromEntries(flags.map(([name, ...value]) => [name, value.join('=')]));
}

describe('the command of a member of etcd of several', () => {
  const own = 'etcd=https://10.0.0.2:2380';

  it('HOS-33 lets the first member begin the etcd, and only before others have its data', () => {
    expect(peerFlags('etcd')).toMatchObject({
      name: 'etcd',
      'initial-cluster': own,
      'initial-cluster-state': 'new',
      'initial-cluster-token': 'uid-ci',
    });
    const sealed = peerFlags('etcd', { isSealed: true });
    expect(sealed).toMatchObject({ 'initial-cluster': own, 'initial-cluster-state': 'existing' });
    expect(sealed).not.toHaveProperty('initial-cluster-token');
  });

  it.each(['etcd', 'etcd-1'] as const)(
    'HOS-33 lets %s join the others, and know none of them later',
    (member) => {
      const initialCluster = `${own},etcd-1=https://10.0.0.4:2380`;
      expect(peerFlags(member, { isSealed: true, initialCluster })).toMatchObject({
        'initial-cluster': initialCluster,
        'initial-cluster-state': 'existing',
      });
      const later = peerFlags(member, { isSealed: true });
      expect(later['initial-cluster']).toBe(`${member}=${later['initial-advertise-peer-urls']}`);
      expect(later['initial-cluster-state']).toBe('existing');
    },
  );

  it('HOS-33 never lets another member begin an etcd', () => {
    expect(peerFlags('etcd-2')['initial-cluster-state']).toBe('existing');
  });

  it('HOS-33 accepts peers by their name and authority, from the address of any pod', () => {
    const flags = peerFlags('etcd-2');
    expect(flags).toMatchObject({
      'listen-peer-urls': 'https://0.0.0.0:2380',
      'initial-advertise-peer-urls': 'https://10.0.0.5:2380',
      'advertise-client-urls': 'https://10.0.0.5:2379',
      'peer-client-cert-auth': '',
      'peer-cert-allowed-cn': 'etcd',
      'peer-skip-client-san-verification': 'true',
    });
    expect(peerFlags('etcd', { version: 'v3.5.21' })).toHaveProperty([
      'experimental-peer-skip-client-san-verification',
    ]);
  });

  it('HOS-33 gives the API server the addresses of all members', () => {
    const { args } = memberCommand('kube-apiserver', { plane: planeRecord(THREE), addresses: ADDRESSES });
    expect(args).toContain(
      '--etcd-servers=https://10.0.0.2:2379,https://10.0.0.4:2379,https://10.0.0.5:2379',
    );
  });
});

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
