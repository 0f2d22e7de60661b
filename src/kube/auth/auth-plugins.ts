/**
 * Credentials from plug-ins: `exec` (cloud CLIs) and `auth-provider: oidc`. @kubernetes/client-node runs them and caches
 * their answers until they expire. It is loaded only for users that need it.
 */
import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { KubeError } from '../client/errors.ts';
import { isRecord, textAt } from '../objects/json.ts';
import { type Credentials, checkKeyPair, type Identity, type TlsMaterial } from './credentials.ts';
import { type KubeconfigUser, resolveCommand } from './kubeconfig.ts';

// A plug-in may call its cloud and refresh a session, but one that prompts a person would never end.
const PLUGIN_TIMEOUT_MS = 60_000;

interface PluginSource {
  readonly cluster: Cluster;
  readonly user: KubeconfigUser;
  /** "context prod of /home/me/.kube/config" */
  readonly origin: string;
  readonly timeoutMs?: number;
}

/** The part of client-node's Authenticator that is used here. */
interface Plugin {
  applyAuthentication(user: User, options: PluginAnswer): Promise<void>;
}

interface PluginAnswer {
  headers: Record<string, string>;
  cert?: string;
  key?: string;
}

/** Returns `base` itself when the user needs no plug-in. */
export function createPluginCredentials(base: Credentials, source: PluginSource): Credentials {
  const { entry } = source.user;
  if (!isRecord(entry.exec) && !isRecord(entry.authProvider)) return base;
  const user = isRecord(entry.exec) ? { ...entry, exec: execConfig(entry.exec, source) } : entry;
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
      plugin ??= loadPlugin(source);
      await (await plugin).applyAuthentication(user, answer);
      checkAnswer(answer);
    } catch (error) {
      plugin = undefined;
      throw new KubeError('Credentials', `${pluginErrorMessage(error, source)} (${source.origin})`, {
        cause: error,
      });
    }
    const authorization = answer.headers['Authorization'];
    const headers = { ...identity.headers, ...(authorization ? { authorization } : {}) };
    return { tls: tlsOf(identity.tls, answer), headers };
  }

  /** The same object for the same certificate, because a new object causes new connections. */
  function tlsOf(from: TlsMaterial, { cert, key }: PluginAnswer): TlsMaterial {
    const next = cert && key ? { ...from, cert, key } : from;
    if (!tls || JSON.stringify(tls) !== JSON.stringify(next)) tls = next;
    return tls;
  }
}

async function loadPlugin({ user, timeoutMs = PLUGIN_TIMEOUT_MS }: PluginSource): Promise<Plugin> {
  if (isRecord(user.entry.exec)) {
    const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
    // By default the plug-in's input stays open, and it may wait for input without limit.
    const execFn = (command: string, args: readonly string[], options: SpawnOptionsWithoutStdio) =>
      spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs });
    return Object.assign(new ExecAuth() as unknown as Plugin, { execFn });
  }
  const name = textAt(user.entry.authProvider, 'name');
  if (name !== 'oidc') {
    throw new Error(`auth-provider ${name} was removed from Kubernetes: use an exec plug-in`);
  }
  const { OpenIDConnectAuth } = await import('@kubernetes/client-node/dist/oidc_auth.js');
  return new OpenIDConnectAuth();
}

/** Adds KUBERNETES_EXEC_INFO, which plug-ins expect and client-node does not set. */
function execConfig(
  exec: Readonly<Record<string, unknown>>,
  { cluster, user }: PluginSource,
): Record<string, unknown> {
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
  else if (!headers['Authorization']) throw new Error('it returned neither a token nor a certificate');
}

function pluginErrorMessage(error: unknown, { user }: PluginSource): string {
  const { message, code } = error as { message: string; code?: string };
  const command = textAt(user.entry.exec, 'command');
  if (!command) return `no credentials from the auth-provider: ${message}`;
  const hint = textAt(user.entry.exec, 'installHint');
  if (code === 'ENOENT') return `the exec plug-in ${command} is not installed${hint ? `: ${hint}` : ''}`;
  return `the exec plug-in ${command} failed: ${message.trim() || 'no output, or timeout'}`;
}
