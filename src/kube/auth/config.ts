/**
 * Where the API server is and who we are there, from a kubeconfig or from inside a cluster. @kubernetes/client-node
 * parses the entries; only its parser and its plug-ins are loaded (the whole package takes 75 MB and 0.7 s).
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Cluster } from '@kubernetes/client-node/dist/config_types.js';
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';
import { createPluginCredentials } from './auth-plugins.ts';
import {
  type AuthHeaders,
  type Connection,
  type CredentialSources,
  type Credentials,
  createCredentials,
  type Impersonation,
  impersonationHeaders,
} from './credentials.ts';
import {
  type Kubeconfig,
  type KubeconfigUser,
  mergeKubeconfigs,
  readKubeconfig,
  selectContext,
} from './kubeconfig.ts';

export interface ConfigOptions {
  /** A file; by default the files of $KUBECONFIG, then ~/.kube/config, then the service account of this pod. */
  readonly kubeconfig?: string;
  /** The text of one, for example from a Secret. */
  readonly kubeconfigText?: string;
  /** Let such a text name files and programs of this machine: only for a text of our own. */
  readonly trustText?: boolean;
  readonly context?: string;
  readonly impersonate?: Impersonation;
  readonly clock: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly serviceAccountFolder?: string;
  readonly userAgent?: string;
}

export interface LoadedConfig {
  readonly connection: Connection;
  /** "context prod of /home/me/.kube/config", for messages. */
  readonly origin: string;
  readonly namespace?: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const USER_AGENT = 'kubenode';

export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
  const { kubeconfig, kubeconfigText, trustText = false } = options;
  if (kubeconfigText !== undefined) {
    const config = readKubeconfig(kubeconfigText, { origin: 'the given kubeconfig', trusted: trustText });
    return fromKubeconfig(config, options);
  }
  const files = kubeconfig === undefined ? usualFiles(options) : [kubeconfig];
  if (files.length > 0) {
    const configs = await Promise.all(files.map(readFrom));
    return fromKubeconfig(mergeKubeconfigs(configs), options);
  }
  return fromServiceAccount(options);
}

/** As kubectl does it: a name in $KUBECONFIG that does not exist is passed over, if there are others. */
function usualFiles({ env = process.env }: ConfigOptions): string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) {
    const present = named.filter((path) => existsSync(path));
    return present.length > 0 ? present : named;
  }
  const usual = join(env['HOME'] ?? '/', '.kube', 'config');
  return existsSync(usual) ? [usual] : [];
}

async function readFrom(file: string): Promise<Kubeconfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const words = missing
      ? 'does not exist: name another with --kubeconfig'
      : `cannot be read: ${(error as Error).message}`;
    throw new KubeError('Config', `the kubeconfig ${file} ${words}`, { cause: error });
  }
  return readKubeconfig(text, { origin: file, file, trusted: true });
}

function fromKubeconfig(config: Kubeconfig, options: ConfigOptions): LoadedConfig {
  const { cluster, user, context, origin } = selectContext(config, options.context);
  const credentials = credentialsFor(cluster, user, { ...options, origin });
  const { namespace } = context;
  return { ...loaded(cluster.server, credentials, origin, options), ...(namespace ? { namespace } : {}) };
}

interface Place extends ConfigOptions {
  readonly origin: string;
}

function credentialsFor(cluster: Cluster, user: KubeconfigUser, place: Place): Credentials {
  const { clock, origin } = place;
  const { certData, certFile, keyData, keyFile, token, username, password = '' } = user.entry;
  const sources = {
    ...authority(cluster),
    ...given({ cert: decoded(certData), certFile, key: decoded(keyData), keyFile }),
    ...given({ token, tokenFile: user.tokenFile }),
    ...(username ? { basic: { username, password } } : {}),
    headers: impersonation(user, place),
  };
  return createPluginCredentials(createCredentials(sources, { clock, origin }), { cluster, user, origin });
}

function authority({ caData, caFile, tlsServerName, skipTLSVerify }: Cluster): CredentialSources {
  const name = given({ servername: tlsServerName });
  // Go refuses both together as well; whoever skips the check means it.
  return skipTLSVerify ? { insecure: true, ...name } : { ...given({ ca: decoded(caData), caFile }), ...name };
}

/** Only what is there: client-node says null or undefined for the rest. */
function given<K extends string>(texts: Record<K, string | null | undefined>): Partial<Record<K, string>> {
  const entries = Object.entries<string | null | undefined>(texts).filter(([, text]) => Boolean(text));
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}

/** The caller's wish wins over the kubeconfig's `as`. */
function impersonation(user: KubeconfigUser, { impersonate }: Place): AuthHeaders {
  const wanted = impersonate ?? user.impersonate;
  return wanted ? impersonationHeaders(wanted) : {};
}

function decoded(base64: string | undefined): string | undefined {
  return base64 ? Buffer.from(base64, 'base64').toString('utf8') : undefined;
}

/** Inside a pod. The token is renewed by the kubelet under the same name. */
function fromServiceAccount(options: ConfigOptions): LoadedConfig {
  const { env = process.env, serviceAccountFolder: folder = SERVICE_ACCOUNT, impersonate, clock } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port || !existsSync(join(folder, 'token'))) {
    const looked = '$KUBECONFIG, ~/.kube/config and the service account of a pod';
    throw new KubeError('Config', `no kubeconfig found (looked at ${looked}): name one with --kubeconfig`);
  }
  const origin = `the service account in ${folder}`;
  const sources = {
    caFile: join(folder, 'ca.crt'),
    tokenFile: join(folder, 'token'),
    headers: impersonate ? impersonationHeaders(impersonate) : {},
  };
  const credentials = createCredentials(sources, { clock, origin });
  return loaded(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`, credentials, origin, options);
}

function loaded(
  server: string,
  credentials: Credentials,
  origin: string,
  { userAgent }: ConfigOptions,
): LoadedConfig {
  return { connection: { server, credentials, userAgent: userAgent ?? USER_AGENT }, origin };
}
