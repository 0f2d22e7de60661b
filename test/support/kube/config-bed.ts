/** Kubeconfigs, and the identities that they give. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigOptions, loadConfig } from '../../../src/kube/auth/config.ts';
import type { Identity } from '../../../src/kube/auth/credentials.ts';
import { isKubeError, type KubeError } from '../../../src/kube/client/errors.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../temp.ts';

export const clock = createSystemClock();
export const NO_ENV = { HOME: '/nowhere' };
export const base64 = (plain: string): string => Buffer.from(plain).toString('base64');

export interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly current?: string;
}

/** A kubeconfig with cluster c, user u and context a, as JSON, which is YAML. */
export function text({ cluster = {}, user = {}, context = {}, current = 'a' }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    clusters: [{ name: 'c', cluster: { server: 'https://c.example:6443', ...cluster } }],
    users: [{ name: 'u', user: { token: 't', ...user } }],
    contexts: [{ name: 'a', context: { cluster: 'c', user: 'u', ...context } }],
  });
}

export function fileWith(content: string, name = 'config'): string {
  const file = join(tempFolder(), name);
  writeFileSync(file, content);
  return file;
}

export async function identity(options: Partial<ConfigOptions>): Promise<Identity> {
  const { connection } = await loadConfig({ clock, env: NO_ENV, ...options });
  return connection.credentials.current();
}

export async function failing(options: Partial<ConfigOptions>): Promise<KubeError> {
  const error: unknown = await identity(options).catch((caught: unknown) => caught);
  if (isKubeError(error)) return error;
  throw new Error('expected a KubeError', { cause: error });
}
