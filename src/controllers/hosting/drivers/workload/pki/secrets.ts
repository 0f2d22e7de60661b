/** Builds the Secrets of a control plane: one with everything, which no pod mounts, and one for each member with what it needs. Pure. */

import { isRecord } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { formatComponentKubeconfig } from '../../../../../local/pki/kubeconfig.ts';
import { KEYS_SECRET, planeLabels, planeNamespace } from '../names.ts';
import { KUBECONFIG_FILE, PKI_FOLDER, SERVING_FILE } from '../objects/commands.ts';
import { ETCD_CLIENT } from '../objects/pods.ts';
import { type KeyFiles, trustedCertificates } from './keys.ts';

export function keysObject(cluster: string, files: KeyFiles, resourceVersion?: string): KubeObject {
  return secretObject(cluster, {
    name: KEYS_SECRET,
    files,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
}

interface SecretParts {
  readonly name: string;
  readonly files: KeyFiles;
  readonly resourceVersion?: string;
}

export function secretObject(cluster: string, { name, files, resourceVersion }: SecretParts): KubeObject {
  const data = Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: planeNamespace(cluster),
      labels: planeLabels(cluster),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type: 'Opaque',
    data: Object.fromEntries(data) as Readonly<Record<string, string>>,
  };
}

export function keyFilesOf({ data }: KubeObject): KeyFiles {
  if (!isRecord(data)) return {};
  return Object.fromEntries(
    Object.entries(data).map(([name, text]) => [
      name,
      Buffer.from(typeof text === 'string' ? text : '', 'base64').toString('utf8'),
    ]),
  );
}

/** Returns the files of each Secret that a pod mounts. `server` is the URL of the API server for the members beside it. */
export function memberFiles(files: KeyFiles, server: string): Readonly<Record<string, KeyFiles>> {
  const ca = { 'ca.crt': trustedCertificates(files, 'ca') };
  const etcdCa = { 'ca.crt': trustedCertificates(files, 'etcd-ca') };
  const pick = (...names: readonly string[]): Readonly<Record<string, string | undefined>> =>
    Object.fromEntries(names.map((name) => [name.replace(/^(etcd|cluster)\./, ''), files[name]]));
  const client = (name: string): Readonly<Record<string, string | undefined>> => ({
    ...ca,
    ...pick(`cluster.${name}.pem`),
    [KUBECONFIG_FILE]: componentKubeconfig(server, name),
  });
  const all = {
    etcd: { ...etcdCa, ...pick('etcd.etcd.pem') },
    [ETCD_CLIENT]: { ...etcdCa, ...pick('etcd.client.pem') },
    'kube-apiserver': {
      ...ca,
      'front-proxy-ca.crt': trustedCertificates(files, 'front-proxy-ca'),
      ...pick('cluster.apiserver.pem', 'cluster.kubelet-client.pem', 'cluster.front-proxy.pem'),
      ...pick('cluster.sa.key'),
    },
    // It signs the certificates of nodes, and the tokens of ServiceAccounts.
    'kube-controller-manager': {
      ...client('controller-manager'),
      ...pick('cluster.ca.pem', 'cluster.sa.key'),
      [SERVING_FILE]: files['cluster.controller-manager-serving.pem'],
    },
    'kube-scheduler': {
      ...client('scheduler'),
      [SERVING_FILE]: files['cluster.scheduler-serving.pem'],
    },
    'kubenode-controllers': client('controllers'),
  };
  return Object.fromEntries(Object.entries(all).map(([name, found]) => [name, present(found)]));
}

function componentKubeconfig(server: string, name: string): string {
  return formatComponentKubeconfig({
    server,
    caFile: `${PKI_FOLDER}/ca.crt`,
    certificateFile: `${PKI_FOLDER}/${name}.pem`,
  });
}

function present(files: Readonly<Record<string, string | undefined>>): KeyFiles {
  return Object.fromEntries(
    Object.entries(files).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
