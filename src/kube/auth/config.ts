/**
 * Loads the address of the API server and the credentials, from a kubeconfig or the service account of a pod. Only the
 * parser and the plug-ins of @kubernetes/client-node are loaded: the whole package takes 75 MB and 0.7 s.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Cluster } from '@kubernetes/client-node/dist/config_types.js';
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';
import { createPluginCredentials } from './auth-plugins.ts';
import { type BearerSource, createBearerCredentials } from './bearer.ts';
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
  /** The text of a kubeconfig, for example from a Secret. */
  readonly kubeconfigText?: string;
  /** Allows that text to name files and programs of this machine. Only for trusted texts. */
  readonly trustText?: boolean;
  readonly context?: string;
  readonly impersonate?: Impersonation;
  /** The token that replaces all credentials: of the kubeconfig or the pod only the server and its authority are used. */
  readonly bearer?: BearerSource;
  /** Another API server of the same cluster, with the same credentials. Its certificate must be for that name. */
  readonly endpoint?: Endpoint;
  readonly clock: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly serviceAccountFolder?: string;
  readonly userAgent?: string;
}

export interface Endpoint {
  readonly url: string;
  readonly servername: string;
}

export interface LoadedConfig {
  readonly connection: Connection;
  /** "context prod of /home/me/.kube/config", for messages. */
  readonly origin: string;
  readonly namespace?: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Names the folder of a pod that mounts its token elsewhere, by a projected volume. */
const SERVICE_ACCOUNT_VARIABLE = 'KUBENODE_SERVICE_ACCOUNT_FOLDER';
const USER_AGENT = 'kubenode';

export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
  const { kubeconfig, kubeconfigText, trustText = false } = options;
  if (kubeconfigText !== undefined) {
    const config = readKubeconfig(kubeconfigText, { origin: 'the given kubeconfig', trusted: trustText });
    return fromKubeconfig(config, options);
  }
  const files = kubeconfig === undefined ? defaultFiles(options) : [kubeconfig];
  if (files.length > 0) {
    const configs = await Promise.all(files.map(readFrom));
    return fromKubeconfig(mergeKubeconfigs(configs), options);
  }
  return fromServiceAccount(options);
}

/** Like kubectl, skips files of $KUBECONFIG that do not exist, if there are others. */
function defaultFiles({ env = process.env }: ConfigOptions): string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) {
    const present = named.filter((path) => existsSync(path));
    return present.length > 0 ? present : named;
  }
  const file = join(env['HOME'] ?? '/', '.kube', 'config');
  return existsSync(file) ? [file] : [];
}

async function readFrom(file: string): Promise<Kubeconfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = missing
      ? 'the file does not exist. Name another with --kubeconfig'
      : (error as Error).message;
    throw new KubeError('Config', `cannot read kubeconfig ${file}: ${why}`, { cause: error });
  }
  return readKubeconfig(text, { origin: file, file, trusted: true });
}

function fromKubeconfig(config: Kubeconfig, options: ConfigOptions): LoadedConfig {
  const selected = selectContext(config, options.context);
  const { user, context, origin } = selected;
  const cluster = clusterAt(selected.cluster, options.endpoint);
  const credentials = credentialsFor(cluster, user, { ...options, origin });
  const { namespace } = context;
  return {
    ...createLoadedConfig(cluster.server, credentials, origin, options),
    ...(namespace ? { namespace } : {}),
  };
}

function clusterAt(cluster: Cluster, endpoint: Endpoint | undefined): Cluster {
  return endpoint ? { ...cluster, server: endpoint.url, tlsServerName: endpoint.servername } : cluster;
}

interface OriginOptions extends ConfigOptions {
  readonly origin: string;
}

function credentialsFor(cluster: Cluster, user: KubeconfigUser, options: OriginOptions): Credentials {
  const { clock, origin, bearer } = options;
  if (bearer) {
    const trusted = createCredentials(authority(cluster), { clock, origin });
    return createBearerCredentials(trusted, bearer, { server: cluster.server, origin });
  }
  const { certData, certFile, keyData, keyFile, token, username, password = '' } = user.entry;
  const sources = {
    ...authority(cluster),
    ...presentTexts({ cert: decoded(certData), certFile, key: decoded(keyData), keyFile }),
    ...presentTexts({ token, tokenFile: user.tokenFile }),
    ...(username ? { basic: { username, password } } : {}),
    headers: impersonation(user, options),
  };
  return createPluginCredentials(createCredentials(sources, { clock, origin }), { cluster, user, origin });
}

function authority({ caData, caFile, tlsServerName, skipTLSVerify }: Cluster): CredentialSources {
  const name = presentTexts({ servername: tlsServerName });
  // client-go rejects a CA together with insecure; here insecure has precedence.
  return skipTLSVerify
    ? { insecure: true, ...name }
    : { ...presentTexts({ ca: decoded(caData), caFile }), ...name };
}

/** Omits missing fields, which client-node sets to null or undefined. */
function presentTexts<K extends string>(
  texts: Record<K, string | null | undefined>,
): Partial<Record<K, string>> {
  const entries = Object.entries<string | null | undefined>(texts).filter(([, text]) => Boolean(text));
  return Object.fromEntries(entries) as Partial<Record<K, string>>;
}

/** The option has precedence over `as` in the kubeconfig. */
function impersonation(user: KubeconfigUser, { impersonate }: OriginOptions): AuthHeaders {
  const effective = impersonate ?? user.impersonate;
  return effective ? impersonationHeaders(effective) : {};
}

function decoded(base64: string | undefined): string | undefined {
  return base64 ? Buffer.from(base64, 'base64').toString('utf8') : undefined;
}

/** In a pod. The kubelet renews the token in the same file. */
function fromServiceAccount(options: ConfigOptions): LoadedConfig {
  const { clock, endpoint, bearer } = options;
  const folder = serviceAccountFolderIn(options);
  const own = podServer(options);
  if (own === undefined || !existsSync(join(folder, bearer ? 'ca.crt' : 'token'))) {
    const searched = '$KUBECONFIG, ~/.kube/config and the service account of a pod';
    throw new KubeError('Config', `no kubeconfig found in ${searched}. Name one with --kubeconfig`);
  }
  const server = endpoint?.url ?? own;
  if (bearer) return fromPod({ server, folder, bearer }, options);
  const origin = `the service account in ${folder}`;
  const sources = {
    caFile: join(folder, 'ca.crt'),
    tokenFile: join(folder, 'token'),
    ...podIdentity(options),
  };
  const credentials = createCredentials(sources, { clock, origin });
  return createLoadedConfig(server, credentials, origin, options);
}

/** The API server of the cluster of this pod. */
function podServer({ env = process.env }: ConfigOptions): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  return host && port ? urlOf(host, port) : undefined;
}

interface PodServer {
  readonly server: string;
  /** Contains ca.crt. The pod needs no token of its own. */
  readonly folder: string;
  readonly bearer: BearerSource;
}

function fromPod({ server, folder, bearer }: PodServer, options: ConfigOptions): LoadedConfig {
  const origin = `the authority in ${folder}`;
  const sources = {
    caFile: join(folder, 'ca.crt'),
    ...presentTexts({ servername: options.endpoint?.servername }),
  };
  const trusted = createCredentials(sources, { clock: options.clock, origin });
  return createLoadedConfig(
    server,
    createBearerCredentials(trusted, bearer, { server, origin }),
    origin,
    options,
  );
}

function serviceAccountFolderIn({ env = process.env, serviceAccountFolder }: ConfigOptions): string {
  return serviceAccountFolder ?? (env[SERVICE_ACCOUNT_VARIABLE] || SERVICE_ACCOUNT);
}

function podIdentity({ impersonate, endpoint }: ConfigOptions): CredentialSources {
  return {
    ...presentTexts({ servername: endpoint?.servername }),
    headers: impersonate ? impersonationHeaders(impersonate) : {},
  };
}

function urlOf(host: string, port: string): string {
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function createLoadedConfig(
  server: string,
  credentials: Credentials,
  origin: string,
  { userAgent }: ConfigOptions,
): LoadedConfig {
  return { connection: { server, credentials, userAgent: userAgent ?? USER_AGENT }, origin };
}
