import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  completeKeys,
  type KeyFiles,
  trustedCertificates,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import {
  keyFilesOf,
  keysObject,
  memberFiles,
  secretObject,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const SERVER = 'https://10.0.0.3:6443';
const files = completeKeys(
  {},
  {
    cluster: 'ci',
    settings: planeRecord().settings,
    apiServerNames: ['10.0.0.3'],
    etcdNames: ['10.0.0.2'],
    now: NOW,
  },
);

function namesOf(found: KeyFiles | undefined): readonly string[] {
  return Object.keys(found ?? {}).toSorted();
}

describe('a Secret of a control plane', () => {
  const secret: KubeObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'etcd' } };

  it('has its files as base64, in the namespace and with the labels of its cluster', () => {
    expect(secretObject('ci', { name: 'etcd', files: { 'ca.crt': 'text', 'é.pem': 'ü' } })).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'etcd',
        namespace: 'kn-ci',
        labels: { 'app.kubernetes.io/managed-by': 'kubenode', 'kubenode.dev/cluster': 'ci' },
      },
      type: 'Opaque',
      data: { 'ca.crt': 'dGV4dA==', 'é.pem': 'w7w=' },
    });
  });

  it('with all keys has a name that stays the same', () => {
    const found = keysObject('ci', { 'cluster.ca.pem': 'key' });
    expect(found).toEqual(secretObject('ci', { name: 'kubenode-keys', files: { 'cluster.ca.pem': 'key' } }));
    expect(found.metadata).not.toHaveProperty('resourceVersion');
  });

  it('replaces only the version that was read', () => {
    expect(keysObject('ci', {}, '7').metadata.resourceVersion).toBe('7');
    const parts = { name: 'etcd', files: {}, resourceVersion: '8' };
    expect(secretObject('ci', parts).metadata.resourceVersion).toBe('8');
  });

  it('is read as it was written, also with other than ASCII', () => {
    const written = { ...files, note: 'Schlüssel\n', empty: '' };
    expect(keyFilesOf(keysObject('ci', written))).toEqual(written);
  });

  it.each<[name: string, data: unknown, want: KeyFiles]>([
    ['without data', undefined, {}],
    ['whose data is null', null, {}],
    ['whose data is a list', ['dGV4dA=='], {}],
    [
      'with a value that is not a text',
      { 'ca.crt': 7, 'sa.key': 'dGV4dA==' },
      { 'ca.crt': '', 'sa.key': 'text' },
    ],
  ])('%s is read without an error', (_name, data, want) => {
    expect(keyFilesOf({ ...secret, data })).toEqual(want);
  });
});

describe('the files that the members of a control plane mount', () => {
  const all = memberFiles(files, SERVER);

  it('HOS-20 keys are only in the Secrets of the members that read them', () => {
    expect(Object.fromEntries(Object.entries(all).map(([name, found]) => [name, namesOf(found)]))).toEqual({
      etcd: ['ca.crt', 'etcd.pem'],
      'etcd-client': ['ca.crt', 'client.pem'],
      'kube-apiserver': [
        'apiserver.pem',
        'ca.crt',
        'front-proxy-ca.crt',
        'front-proxy.pem',
        'kubelet-client.pem',
        'sa.key',
      ],
      'kube-controller-manager': [
        'ca.crt',
        'ca.pem',
        'controller-manager.pem',
        'kubeconfig',
        'sa.key',
        'serving.pem',
      ],
      'kube-scheduler': ['ca.crt', 'kubeconfig', 'scheduler.pem', 'serving.pem'],
      'kubenode-controllers': ['ca.crt', 'controllers.pem', 'kubeconfig'],
    });
  });

  it.each([
    ['etcd', 'etcd.pem', 'etcd.etcd.pem'],
    ['etcd-client', 'client.pem', 'etcd.client.pem'],
    ['kube-apiserver', 'apiserver.pem', 'cluster.apiserver.pem'],
    ['kube-apiserver', 'kubelet-client.pem', 'cluster.kubelet-client.pem'],
    ['kube-apiserver', 'front-proxy.pem', 'cluster.front-proxy.pem'],
    ['kube-apiserver', 'sa.key', 'cluster.sa.key'],
    ['kube-controller-manager', 'ca.pem', 'cluster.ca.pem'],
    ['kube-controller-manager', 'sa.key', 'cluster.sa.key'],
    ['kube-controller-manager', 'controller-manager.pem', 'cluster.controller-manager.pem'],
    ['kube-controller-manager', 'serving.pem', 'cluster.controller-manager-serving.pem'],
    ['kube-scheduler', 'scheduler.pem', 'cluster.scheduler.pem'],
    ['kube-scheduler', 'serving.pem', 'cluster.scheduler-serving.pem'],
    ['kubenode-controllers', 'controllers.pem', 'cluster.controllers.pem'],
  ])('give %s as %s the content of %s', (member, file, source) => {
    expect(files[source]).toContain('PRIVATE KEY');
    expect(all[member]?.[file]).toBe(files[source]);
  });

  it.each([
    ['etcd', 'ca.crt', 'etcd-ca'],
    ['etcd-client', 'ca.crt', 'etcd-ca'],
    ['kube-apiserver', 'ca.crt', 'ca'],
    ['kube-apiserver', 'front-proxy-ca.crt', 'front-proxy-ca'],
    ['kube-controller-manager', 'ca.crt', 'ca'],
    ['kube-scheduler', 'ca.crt', 'ca'],
    ['kubenode-controllers', 'ca.crt', 'ca'],
  ] as const)(
    'HOS-20 keys of CAs stay out: %s trusts by %s only the certificate of %s',
    (member, file, name) => {
      const certificate = trustedCertificates(files, name);
      expect(certificate).toMatch(/^-----BEGIN CERTIFICATE-----/);
      expect(all[member]?.[file]).toBe(certificate);
      expect(all[member]?.[file]).not.toContain('PRIVATE KEY');
    },
  );

  it.each([
    ['kube-controller-manager', 'controller-manager.pem'],
    ['kube-scheduler', 'scheduler.pem'],
    ['kubenode-controllers', 'controllers.pem'],
  ])('have for %s a kubeconfig that refers to the %s beside it', (member, file) => {
    const path = `/etc/kubernetes/pki/${file}`;
    expect(parse(all[member]?.['kubeconfig'] ?? '')).toMatchObject({
      clusters: [{ cluster: { server: SERVER, 'certificate-authority': '/etc/kubernetes/pki/ca.crt' } }],
      users: [{ user: { 'client-certificate': path, 'client-key': path } }],
    });
  });

  it('leave out what is not made yet, instead of an empty file', () => {
    const empty = memberFiles({}, SERVER);
    expect(Object.keys(empty)).toEqual(Object.keys(all));
    expect(
      Object.entries(empty).flatMap(([name, found]) => namesOf(found).map((file) => [name, file])),
    ).toEqual([
      ['kube-controller-manager', 'kubeconfig'],
      ['kube-scheduler', 'kubeconfig'],
      ['kubenode-controllers', 'kubeconfig'],
    ]);
  });

  it('leave out the certificate of a CA that is damaged, and keep the others', () => {
    const damaged = memberFiles({ ...files, 'cluster.front-proxy-ca.pem': 'damaged' }, SERVER);
    const { 'front-proxy-ca.crt': _, ...others } = all['kube-apiserver'] ?? {};
    expect(damaged).toEqual({ ...all, 'kube-apiserver': others });
  });
});
