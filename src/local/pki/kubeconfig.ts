/** Formats kubeconfig files. Those for users contain their certificates, so that one file is complete. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { optional } from '../../kube/objects/optional.ts';
import { type LocalEnvironment, stateFolder } from '../folders.ts';
import type { CertificatePair } from './certificate.ts';

export interface KubeconfigEntry {
  /** The name of cluster and context. */
  readonly name: string;
  readonly server: string;
  readonly caPem: string;
  /** The name in the certificate of the server, where it is another one than that in the URL. */
  readonly serverName?: string | undefined;
  /** The user of the certificate. Part of the entry's name, because clients cache credentials by that name. */
  readonly user: string;
  readonly client: CertificatePair;
}

/** The kubeconfig with a context for each local cluster; undefined if it does not exist. */
export function findLocalKubeconfig(env: LocalEnvironment): string | undefined {
  const path = mergedKubeconfigPath(stateFolder(env));
  return existsSync(path) ? path : undefined;
}

/** The folder of the local fleet that wrote this kubeconfig, merged or of one cluster. */
export function fleetFolderOf(kubeconfig: string): string | undefined {
  const folder = dirname(resolve(kubeconfig));
  const candidates = [folder, dirname(dirname(folder))];
  return candidates.find((candidate) => existsSync(join(candidate, 'state.json')));
}

export function mergedKubeconfigPath(folder: string): string {
  return join(folder, 'kubeconfig');
}

/** One context for each entry; the first one is current. */
export function formatKubeconfig(entries: readonly KubeconfigEntry[]): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': entries[0]?.name ?? '',
      clusters: entries.map(({ name, server, caPem, serverName }) => ({
        name,
        cluster: {
          server,
          'certificate-authority-data': encodeBase64(caPem),
          ...optional('tls-server-name', serverName),
        },
      })),
      users: entries.map((entry) => ({
        name: userName(entry),
        user: {
          'client-certificate-data': encodeBase64(entry.client.certPem),
          'client-key-data': encodeBase64(entry.client.keyPem),
        },
      })),
      contexts: entries.map((entry) => ({
        name: entry.name,
        context: { cluster: entry.name, user: userName(entry) },
      })),
    },
    { lineWidth: 0 },
  );
}

/**
 * The kubeconfig of a program of the control plane. It refers to files instead of containing them, so that a renewed
 * certificate is used without a restart.
 */
export function formatComponentKubeconfig(paths: {
  readonly server: string;
  readonly caFile: string;
  readonly certificateFile: string;
}): string {
  const { server, caFile, certificateFile } = paths;
  const user = { 'client-certificate': certificateFile, 'client-key': certificateFile };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'local', user }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local' } }],
  });
}

function userName({ name, user }: KubeconfigEntry): string {
  return `${name}/${user}`;
}

function encodeBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
