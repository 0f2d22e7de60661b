/** kubeconfig files, with certificates inside: one file is all that a person has to hand on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Environment, stateFolder } from '../folders.ts';
import type { Pair } from './certificate.ts';

export interface Access {
  /** Names cluster, user and context. */
  readonly name: string;
  readonly server: string;
  readonly caPem: string;
  /** The user behind the certificate, as part of the entry's name: credentials are cached by that name. */
  readonly user: string;
  readonly client: Pair;
}

/** The file with a context for each local cluster; undefined when there is none. */
export function localKubeconfig(env: Environment): string | undefined {
  const path = mergedKubeconfig(stateFolder(env));
  return existsSync(path) ? path : undefined;
}

export function mergedKubeconfig(folder: string): string {
  return join(folder, 'kubeconfig');
}

/** One context for each access; the first one is current. */
export function kubeconfigOf(accesses: readonly Access[]): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': accesses[0]?.name ?? '',
      clusters: accesses.map(({ name, server, caPem }) => ({
        name,
        cluster: { server, 'certificate-authority-data': base64(caPem) },
      })),
      users: accesses.map((access) => ({
        name: userName(access),
        user: {
          'client-certificate-data': base64(access.client.certPem),
          'client-key-data': base64(access.client.keyPem),
        },
      })),
      contexts: accesses.map((access) => ({
        name: access.name,
        context: { cluster: access.name, user: userName(access) },
      })),
    },
    { lineWidth: 0 },
  );
}

/**
 * For a program of the control plane: names files instead of holding their content, so that a renewed
 * certificate is used without a restart.
 */
export function componentKubeconfig(paths: {
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

function userName({ name, user }: Access): string {
  return `${name}/${user}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
