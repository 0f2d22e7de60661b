import { describe, expect, it } from 'vitest';
import { podPlaces } from '../../../../../../src/controllers/hosting/drivers/workload/etcd/places.ts';
import type { FoundPlane } from '../../../../../../src/controllers/hosting/drivers/workload/hub.ts';
import { completeKeys } from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../../support/builders.ts';
import { HOSTED } from '../../../../../support/hosting/objects.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const RECORD = planeRecord({ etcd: { ...HOSTED.etcd, replicas: 3 } });
const ADDRESSES = {
  etcd: '10.0.0.2',
  'etcd-1': '10.0.0.4',
  'etcd-2': '10.0.0.5',
  'kube-apiserver': '10.0.0.3',
};
const KEYS = completeKeys(
  {},
  {
    cluster: 'ci',
    settings: RECORD.settings,
    apiServerNames: ['10.0.0.3'],
    etcdNames: ['10.0.0.2', '10.0.0.4', '10.0.0.5'],
    now: NOW,
  },
);

function service(name: string, clusterIP: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'kn-ci' }, spec: { clusterIP } };
}

function pod(member: string, podIP: string | undefined, ready = 'True'): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: member, uid: 'sts', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${member}-0`,
      labels: { 'kubenode.dev/part': member },
      ownerReferences: [owner],
    },
    status: { ...(podIP === undefined ? {} : { podIP }), conditions: [{ type: 'Ready', status: ready }] },
  };
}

function plane(pods: readonly KubeObject[], parts: Partial<FoundPlane> = {}): FoundPlane {
  const none = new Map<string, KubeObject>();
  const services = Object.entries(ADDRESSES).map(
    ([name, address]) => [name, service(name, address)] as const,
  );
  return {
    owner: { name: 'ci', uid: 'uid-ci' },
    where: 'namespace kn-ci',
    claim: 'Own',
    namespace: undefined,
    record: RECORD,
    keys: KEYS,
    objects: {
      keySecrets: none,
      configMaps: none,
      services: new Map(services),
      claims: none,
      policies: none,
      budgets: none,
      workloads: none,
      pods,
    },
    ...parts,
  };
}

function urls(found: FoundPlane): readonly (string | undefined)[] | undefined {
  return podPlaces(found, NOW)?.endpoints.map((endpoint) => endpoint?.url);
}

describe('podPlaces', () => {
  it('HOS-33 asks the pods that are ready, by their addresses and a name of their certificate', () => {
    const pods = [pod('etcd', '10.1.0.7'), pod('etcd-1', 'fd00::8'), pod('etcd-2', '10.1.0.9', 'False')];
    const places = podPlaces(plane(pods), NOW);
    expect(urls(plane(pods))).toEqual(['https://10.1.0.7:2379', 'https://[fd00::8]:2379', undefined]);
    expect(places?.endpoints[0]?.serverName).toBe('localhost');
    expect(places?.endpoints[0]?.client).toBeDefined();
  });

  it('HOS-33 gives members the addresses of Services for each other, whether pods answer or not', () => {
    expect(podPlaces(plane([]), NOW)?.peerUrls).toEqual([
      'https://10.0.0.2:2380',
      'https://10.0.0.4:2380',
      'https://10.0.0.5:2380',
    ]);
  });

  it('HOS-33 asks none without an address or a certificate, and none before there are Services', () => {
    const pods = [pod('etcd', undefined), pod('etcd-1', '10.1.0.8')];
    expect(urls(plane(pods))).toEqual([undefined, 'https://10.1.0.8:2379', undefined]);
    expect(urls(plane(pods, { keys: {} }))).toEqual([undefined, undefined, undefined]);
    const { objects } = plane(pods);
    expect(podPlaces(plane(pods, { objects: { ...objects, services: new Map() } }), NOW)).toBeUndefined();
  });
});
