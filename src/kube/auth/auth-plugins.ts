/**
 * Credentials that a plug-in makes: `exec` (cloud CLIs) and `auth-provider: oidc`, run by @kubernetes/client-node, which
 * also remembers them until they expire. Loaded only for users that need them.
 */
import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { KubeError } from '../client/errors.ts';
import { isRecord, textAt } from '../objects/json.ts';
import { type Credentials, checkKeyPair, type Identity, type TlsMaterial } from './credentials.ts';
import { type KubeconfigUser, resolveCommand } from './kubeconfig.ts';

// A plug-in may ask its cloud, and refresh a session; one that wants to talk to a person would wait for ever.
const PLUGIN_TIMEOUT_MS = 60_000;

interface Place {
  readonly cluster: Cluster;
  readonly user: KubeconfigUser;
  /** "context prod of /home/me/.kube/config" */
  readonly origin: string;
  readonly timeoutMs?: number;
}

/** client-node's Authenticator, as far as we use it. */
interface Plugin {
  applyAuthentication(user: User, options: PluginAnswer): Promise<void>;
}

interface PluginAnswer {
  headers: Record<string, string>;
  cert?: string;
  key?: string;
}

/** The credentials themselves where the user needs no plug-in. */
export function createPluginCredentials(base: Credentials, place: Place): Credentials {
  const { entry } = place.user;
  if (!isRecord(entry.exec) && !isRecord(entry.authProvider)) return base;
  const user = isRecord(entry.exec) ? { ...entry, exec: execOf(entry.exec, place) } : entry;
  let plugin: Promise<Plugin> | undefined;
  let running: Promise<Identity> | undefined;
  let tls: TlsMaterial | undefined;

  return {
    current: () => (running ??= run().finally(() => (running = undefined))),
    forget: () => {
      plugin = undefined;
      base.forget();
    },
  };

  async function run(): Promise<Identity> {
    const identity = await base.current();
    const answer: PluginAnswer = { headers: {} };
    try {
      plugin ??= pluginFor(place);
      await (await plugin).applyAuthentication(user, answer);
      checkAnswer(answer);
    } catch (error) {
      plugin = undefined;
      throw new KubeError('Credentials', `${wordsFor(error, place)} (${place.origin})`, { cause: error });
    }
    const authorization = answer.headers['Authorization'];
    const headers = { ...identity.headers, ...(authorization ? { authorization } : {}) };
    return { tls: tlsOf(identity.tls, answer), headers };
  }

  /** One object for one certificate: a new object means new connections. */
  function tlsOf(from: TlsMaterial, { cert, key }: PluginAnswer): TlsMaterial {
    const next = cert && key ? { ...from, cert, key } : from;
    if (!tls || JSON.stringify(tls) !== JSON.stringify(next)) tls = next;
    return tls;
  }
}

async function pluginFor({ user, timeoutMs = PLUGIN_TIMEOUT_MS }: Place): Promise<Plugin> {
  if (isRecord(user.entry.exec)) {
    const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
    // It would leave the plug-in's input open and wait without end.
    const execFn = (command: string, args: readonly string[], options: SpawnOptionsWithoutStdio) =>
      spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    return Object.assign(new ExecAuth() as unknown as Plugin, { execFn });
  }
  const name = textAt(user.entry.authProvider, 'name');
  if (name !== 'oidc') {
    throw new Error(`the auth-provider ${name} was removed from Kubernetes: use an exec plug-in`);
  }
  const { OpenIDConnectAuth } = await import('@kubernetes/client-node/dist/oidc_auth.js');
  return new OpenIDConnectAuth();
}

/** With what plug-ins are promised in KUBERNETES_EXEC_INFO and client-node leaves out. */
function execOf(exec: Readonly<Record<string, unknown>>, { cluster, user }: Place): Record<string, unknown> {
  const info = {
    apiVersion: textAt(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec['provideClusterInfo'] === true ? { cluster: clusterInfo(cluster) } : {}),
    },
  };
  const env: readonly unknown[] = Array.isArray(exec['env']) ? exec['env'] : [];
  return {
    ...exec,
    command: resolveCommand(textAt(exec, 'command') ?? '', user.folder),
    args: Array.isArray(exec['args']) ? exec['args'] : [],
    env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }],
  };
}

function clusterInfo({ server, caData, tlsServerName, skipTLSVerify }: Cluster): Record<string, unknown> {
  return {
    server,
    ...(caData ? { 'certificate-authority-data': caData } : {}),
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
    ...(skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
  };
}

function checkAnswer({ headers, cert, key }: PluginAnswer): void {
  if (cert && key) checkKeyPair({ cert, key });
  else if (!headers['Authorization']) throw new Error('it gave neither a token nor a certificate');
}

function wordsFor(error: unknown, { user }: Place): string {
  const { message, code } = error as { message: string; code?: string };
  const command = textAt(user.entry.exec, 'command');
  if (!command) return `no credentials from the auth-provider: ${message}`;
  const hint = textAt(user.entry.exec, 'installHint');
  if (code === 'ENOENT') return `the exec plug-in ${command} is not installed here${hint ? `: ${hint}` : ''}`;
  return `the exec plug-in ${command} failed: ${message.trim() || 'it said nothing, or took too long'}`;
}
