import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  accessOf,
  addressesOf,
  internalUrl,
  keyRequest,
  serverOf,
} from '../../../../../src/controllers/hosting/drivers/workload/access.ts';
import type { FoundPlane } from '../../../../../src/controllers/hosting/drivers/workload/hub.ts';
import {
  completeKeys,
  type KeyFiles,
  pairOf,
  trustedCertificates,
} from '../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import type { Hosted } from '../../../../../src/controllers/hosting/plan/input.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../support/builders.ts';
import { planeRecord } from '../../../../support/hosting/workload.ts';

type Exposure = Hosted['exposure'];

const ADDRESSES = { etcd: ['10.0.0.2'], apiServer: '10.0.0.3' };
const INSIDE = ['10.0.0.3', 'kube-apiserver.kn-ci', 'kube-apiserver.kn-ci.svc'];
const CLUSTER_IP: Exposure = { type: 'ClusterIP', port: 6443 };
const BALANCER: Exposure = { type: 'LoadBalancer', port: 443 };
const NODE_PORT: Exposure = { type: 'NodePort', port: 6443 };

function service(name: string, spec: object, ingress?: readonly object[]): KubeObject {
  const status = ingress ? { loadBalancer: { ingress } } : {};
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'kn-ci' }, spec, status };
}

function apiServer(spec: object = {}, ingress?: readonly object[]): KubeObject {
  return service('kube-apiserver', { clusterIP: ADDRESSES.apiServer, ...spec }, ingress);
}

const ETCD = service('etcd', { clusterIP: ADDRESSES.etcd[0] });

function planeWith(services: readonly KubeObject[], parts: Partial<FoundPlane> = {}): FoundPlane {
  return {
    owner: { name: 'ci', uid: 'uid-ci' },
    where: 'namespace kn-ci',
    claim: 'Own',
    namespace: undefined,
    record: planeRecord(),
    keys: {},
    objects: {
      keySecrets: new Map(),
      configMaps: new Map(),
      services: new Map(services.map((each) => [each.metadata.name, each])),
      claims: new Map(),
      policies: new Map(),
      budgets: new Map(),
      workloads: new Map(),
      pods: [],
    },
    ...parts,
  };
}

describe('the addresses of a control plane of pods', () => {
  it('are those of both Services', () => {
    expect(addressesOf(planeWith([ETCD, apiServer()]))).toEqual(ADDRESSES);
  });

  it.each<[name: string, services: readonly KubeObject[]]>([
    ['before any Service exists', []],
    ['before the Service of the API server exists', [ETCD]],
    ['before the Service of etcd exists', [apiServer()]],
    ['while a Service has no address', [ETCD, service('kube-apiserver', {})]],
    ['while the address of a Service is empty', [ETCD, apiServer({ clusterIP: '' })]],
    ['while a Service is headless', [service('etcd', { clusterIP: 'None' }), apiServer()]],
  ])('are not known %s', (_name, services) => {
    expect(addressesOf(planeWith(services))).toBeUndefined();
  });

  it.each([
    ['10.0.0.3', 'https://10.0.0.3:6443'],
    ['fd00::3', 'https://[fd00::3]:6443'],
  ])('make of %s the URL for the members beside the API server, whatever is outside', (address, want) => {
    const addresses = { ...ADDRESSES, apiServer: address };
    expect(internalUrl(addresses, { ...CLUSTER_IP, host: 'api.example' })).toBe(want);
  });
});

describe('the URL of a control plane for sync', () => {
  const atNodePort = apiServer({ ports: [{ port: 6443, nodePort: 30_443 }] });

  it.each<[name: string, exposure: Exposure, object: KubeObject, want: string]>([
    ['has the address of the Service', CLUSTER_IP, apiServer(), 'https://10.0.0.3:6443'],
    [
      'has the host that was chosen, and not the address of the Service',
      { ...CLUSTER_IP, host: 'api.example' },
      apiServer(),
      'https://api.example:6443',
    ],
    [
      'puts an IPv6 address in brackets',
      { ...CLUSTER_IP, host: 'fd00::9' },
      apiServer(),
      'https://[fd00::9]:6443',
    ],
    [
      'has the IP address of the load balancer',
      BALANCER,
      apiServer({}, [{ ip: '192.0.2.7' }]),
      'https://192.0.2.7:443',
    ],
    [
      'prefers the name of the load balancer to its IP address',
      BALANCER,
      apiServer({}, [{ ip: '192.0.2.7', hostname: 'lb.example' }]),
      'https://lb.example:443',
    ],
    [
      'has the first of several addresses of the load balancer',
      BALANCER,
      apiServer({}, [{ ip: '192.0.2.7' }, { ip: '192.0.2.8' }]),
      'https://192.0.2.7:443',
    ],
    [
      'has the host that was chosen before the load balancer has an address',
      { ...BALANCER, host: 'api.example' },
      apiServer(),
      'https://api.example:443',
    ],
    [
      'has the port of the nodes, and not that of the Service',
      { ...NODE_PORT, host: '192.0.2.1' },
      atNodePort,
      'https://192.0.2.1:30443',
    ],
  ])('%s', (_name, exposure, object, want) => {
    expect(serverOf(planeWith([ETCD, object]), ADDRESSES, exposure)).toBe(want);
  });

  it.each<[name: string, exposure: Exposure, services: readonly KubeObject[]]>([
    ['the load balancer has no address', BALANCER, [apiServer()]],
    ['the list of its addresses is empty', BALANCER, [apiServer({}, [])]],
    ['the Service of the load balancer does not exist', BALANCER, []],
    ['no host was chosen for the port of the nodes', NODE_PORT, [atNodePort]],
    ['the port of the nodes is not assigned', { ...NODE_PORT, host: '192.0.2.1' }, [apiServer()]],
    [
      'the port of the nodes is not a number',
      { ...NODE_PORT, host: '192.0.2.1' },
      [apiServer({ ports: [{ nodePort: '30443' }] })],
    ],
  ])('is not known while %s', (_name, exposure, services) => {
    expect(serverOf(planeWith(services), ADDRESSES, exposure)).toBeUndefined();
  });
});

function namesFor(exposure: Exposure, object = apiServer()): readonly string[] {
  const found = planeWith([ETCD, object]);
  const request = keyRequest(found, planeRecord({ exposure }), { addresses: ADDRESSES, now: NOW });
  return request.apiServerNames;
}

describe('what the certificates of a control plane are made for', () => {
  it('are its name and settings, the address of etcd, and the time', () => {
    const record = planeRecord();
    const request = keyRequest(planeWith([ETCD, apiServer()]), record, { addresses: ADDRESSES, now: NOW });
    expect(request).toEqual({
      cluster: 'ci',
      settings: record.settings,
      apiServerNames: INSIDE,
      etcdNames: ['10.0.0.2'],
      now: NOW,
    });
  });

  it.each<[name: string, exposure: Exposure, want: readonly string[]]>([
    ['each name once when sync uses the address of the Service', CLUSTER_IP, INSIDE],
    ['the host that was chosen', { ...CLUSTER_IP, host: 'api.example' }, [...INSIDE, 'api.example']],
    ['an IPv6 host without brackets', { ...CLUSTER_IP, host: 'fd00::9' }, [...INSIDE, 'fd00::9']],
    ['only the names inside while the load balancer has no address', BALANCER, INSIDE],
  ])('has for the API server %s', (_name, exposure, want) => {
    expect(namesFor(exposure)).toEqual(want);
  });

  it('has for the API server the address of its load balancer once it is known', () => {
    expect(namesFor(BALANCER, apiServer({}, [{ ip: '192.0.2.7' }]))).toEqual([...INSIDE, '192.0.2.7']);
  });
});

interface ParsedKubeconfig {
  readonly 'current-context': string;
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
}

function decode(text = ''): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

function contentOf(kubeconfig = ''): Readonly<Record<string, string | undefined>> {
  const { clusters, users, 'current-context': context } = parse(kubeconfig) as ParsedKubeconfig;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  return {
    context,
    server: cluster?.['server'],
    ca: decode(cluster?.['certificate-authority-data']),
    certificate: decode(user?.['client-certificate-data']),
    key: decode(user?.['client-key-data']),
  };
}

describe('the kubeconfigs of a control plane of pods', () => {
  const services = [ETCD, apiServer()];
  const request = keyRequest(planeWith(services), planeRecord(), { addresses: ADDRESSES, now: NOW });
  const keys = completeKeys({}, request);

  function without(file: string): KeyFiles {
    return Object.fromEntries(Object.entries(keys).filter(([name]) => name !== file));
  }

  it.each([
    ['admin', 'O=system:masters\nCN=kubernetes-admin'],
    [
      'sync',
      'O=system:serviceaccounts\nO=system:serviceaccounts:kubenode-system\nCN=system:serviceaccount:kubenode-system:kubenode-sync',
    ],
  ] as const)('HOS-52 kubeconfig of %s has its own certificate and no other rights', (name, subject) => {
    const access = accessOf(planeWith(services, { keys }), NOW);
    const pair = pairOf(keys, request, name);
    const content = contentOf(access?.[name]);
    expect(access?.server).toBe('https://10.0.0.3:6443');
    expect(content).toEqual({
      context: 'ci',
      server: 'https://10.0.0.3:6443',
      ca: trustedCertificates(keys, 'ca'),
      certificate: pair?.certPem,
      key: pair?.keyPem,
    });
    expect(new X509Certificate(content['certificate'] ?? '').subject).toBe(subject);
  });

  it('HOS-13 lead to each of several API servers whose pod has an address, and never to another one', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'kube-apiserver-1-7c4', uid: 'rs' };
    const labels = { 'kubenode.dev/part': 'kube-apiserver', 'kubenode.dev/member': 'kube-apiserver-1' };
    const second: KubeObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels, ownerReferences: [{ ...owner, controller: true }] },
      status: { podIP: '10.244.0.7' },
    };
    const several = planeWith(services, { keys, record: planeRecord({ replicas: 2 }) });
    const found = { ...several, objects: { ...several.objects, pods: [second] } };
    const servers = accessOf(found, NOW)?.apiServers ?? [];
    expect(servers.map(({ member, admin }) => [member, contentOf(admin)['server']])).toEqual([
      ['kube-apiserver-1', 'https://10.244.0.7:6443'],
    ]);
    const named = servers.map(({ admin }) => /tls-server-name: (?<name>.*)/.exec(admin)?.groups?.['name']);
    expect(named).toEqual(['localhost']);
    expect(accessOf(several, NOW)?.apiServers).toEqual([]);
    expect(accessOf(planeWith(services, { keys }), NOW)?.apiServers).toBeUndefined();
  });

  it('HOS-52 kubeconfig for sync leads to the address outside', () => {
    const record = planeRecord({ exposure: BALANCER });
    const balanced = [ETCD, apiServer({}, [{ hostname: 'lb.example' }])];
    const access = accessOf(planeWith(balanced, { keys, record }), NOW);
    expect(access?.server).toBe('https://lb.example:443');
    expect(contentOf(access?.sync)['server']).toBe('https://lb.example:443');
    expect(contentOf(access?.admin)['server']).toBe('https://lb.example:443');
  });

  it.each<[name: string, found: FoundPlane]>([
    ['before the Services have addresses', planeWith([], { keys })],
    ['before it has a record', planeWith(services, { keys, record: undefined })],
    ['before its keys are made', planeWith(services)],
    [
      'while the load balancer has no address',
      planeWith(services, { keys, record: planeRecord({ exposure: BALANCER }) }),
    ],
    ['without the CA of the cluster', planeWith(services, { keys: without('cluster.ca.pem') })],
    ['without the certificate of admin', planeWith(services, { keys: without('cluster.admin.pem') })],
    ['without the certificate of sync', planeWith(services, { keys: without('cluster.sync.pem') })],
    [
      'with a damaged certificate of sync',
      planeWith(services, { keys: { ...keys, 'cluster.sync.pem': 'damaged' } }),
    ],
  ])('are not handed out %s', (_name, found) => {
    expect(accessOf(found, NOW)).toBeUndefined();
  });
});
