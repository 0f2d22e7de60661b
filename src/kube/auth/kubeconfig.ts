/** Parses and checks the entries of a kubeconfig, and makes paths absolute. Reads no files. */
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import {
  type Cluster,
  type Context,
  newClusters,
  newContexts,
  newUsers,
  type User,
} from '@kubernetes/client-node/dist/config_types.js';
import { parseDocument } from 'yaml';
import { KubeError } from '../client/errors.ts';
import { isRecord, listAt, textAt, valueAt } from '../objects/json.ts';
import type { Impersonation } from './credentials.ts';

export interface KubeconfigUser {
  readonly entry: User;
  /** Not read by client-node's parser. */
  readonly tokenFile?: string;
  readonly impersonate?: Impersonation;
  /** The folder of the kubeconfig: the path of a plug-in may be relative to it. */
  readonly folder?: string;
}

/** The file of an entry, because several files may be merged. */
interface WithOrigin {
  readonly origin: string;
}

export interface Kubeconfig {
  readonly origin: string;
  readonly currentContext: string;
  readonly clusters: readonly (Cluster & WithOrigin)[];
  readonly users: readonly (KubeconfigUser & WithOrigin)[];
  readonly contexts: readonly (Context & WithOrigin)[];
}

export interface SelectedContext {
  readonly context: Context;
  readonly cluster: Cluster;
  readonly user: KubeconfigUser;
  /** "context prod of /home/me/.kube/config" */
  readonly origin: string;
}

interface KubeconfigSource {
  /** For messages: the file, or "the given kubeconfig". */
  readonly origin: string;
  readonly file?: string;
  /** Whether it may name files and programs of this machine. */
  readonly trusted: boolean;
}

export function readKubeconfig(text: string, source: KubeconfigSource): Kubeconfig {
  const { origin } = source;
  const root = parseYaml(text, origin);
  try {
    const clusters = newClusters(valueAt(root, 'clusters')).map((cluster) => ({
      ...absolute(cluster, ['caFile'], source),
      origin,
    }));
    const contexts = newContexts(valueAt(root, 'contexts')).map((context) => ({ ...context, origin }));
    const users = parseUsers(root, source).map((user) => ({ ...user, origin }));
    return { origin, currentContext: textAt(root, 'current-context') ?? '', clusters, users, contexts };
  } catch (error) {
    throw new KubeError('Config', `${origin} is not a valid kubeconfig: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parseYaml(text: string, origin: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  // The message quotes the text, which contains keys and tokens: only its first line is used.
  if (error) throw new KubeError('Config', `${origin} is not valid YAML: ${error.message.split('\n')[0]}`);
  const root: unknown = document.toJS({ maxAliasCount: 100 });
  if (isRecord(root)) return root;
  throw new KubeError(
    'Config',
    `${origin} is not a kubeconfig: ${text.trim() === '' ? 'it is empty' : 'expected a mapping'}`,
  );
}

function parseUsers(root: unknown, source: KubeconfigSource): KubeconfigUser[] {
  const raw = listAt(root, 'users');
  // client-node reads the wrong field `token-file`, and only once. The real field is `tokenFile`, and the file may change.
  return newUsers(raw).map((entry, index) => {
    const user = valueAt(raw, index, 'user');
    const tokenFile = textAt(user, 'tokenFile');
    const impersonate = parseImpersonation(user);
    rejectUntrusted(entry, tokenFile, source);
    return {
      entry: absolute(entry, ['certFile', 'keyFile'], source),
      ...(tokenFile ? { tokenFile: absolutePath(tokenFile, source) } : {}),
      ...(impersonate ? { impersonate } : {}),
      ...(source.file ? { folder: resolve(dirname(source.file)) } : {}),
    };
  });
}

function parseImpersonation(user: unknown): Impersonation | undefined {
  const name = textAt(user, 'as');
  if (!name) return undefined;
  const groups = listAt(user, 'as-groups').map(String);
  const uid = textAt(user, 'as-uid');
  const extra = valueAt(user, 'as-user-extra');
  return {
    user: name,
    groups,
    ...(uid ? { uid } : {}),
    ...(isRecord(extra) ? { extra: extra as Readonly<Record<string, readonly string[]>> } : {}),
  };
}

/** A kubeconfig from a Secret must not make us send local files to its server, or run a program. */
function rejectUntrusted(entry: User, tokenFile: string | undefined, { trusted }: KubeconfigSource): void {
  if (trusted) return;
  const named = entry.certFile ?? entry.keyFile ?? tokenFile;
  if (named) throw new Error(`user ${entry.name} names the file ${named}: inline its content`);
  if (entry.exec ?? entry.authProvider) {
    throw new Error(
      `user ${entry.name} runs a plug-in, which is allowed only in a kubeconfig file of this machine`,
    );
  }
}

function absolute<E extends object>(entry: E, fields: readonly (keyof E)[], source: KubeconfigSource): E {
  const changed = fields.flatMap((field) => {
    const path = entry[field];
    return typeof path === 'string' ? [[field, absolutePath(path, source)] as const] : [];
  });
  return { ...entry, ...Object.fromEntries(changed) };
}

function absolutePath(path: string, { file, trusted, origin }: KubeconfigSource): string {
  if (!trusted) throw new Error(`${origin} names the file ${path}: inline its content`);
  return isAbsolute(path) ? path : resolve(file ? dirname(file) : '.', path);
}

/** A command with a path is relative to the kubeconfig's folder; one without is searched in $PATH. */
export function resolveCommand(command: string, folder: string | undefined): string {
  return command.includes(sep) && folder ? resolve(folder, command) : command;
}

/** Like kubectl, keeps the first of several entries with the same name. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    origin: configs.map(({ origin }) => origin).join(', '),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
    clusters: firstOfEach(
      configs.flatMap(({ clusters }) => clusters),
      ({ name }) => name,
    ),
    users: firstOfEach(
      configs.flatMap(({ users }) => users),
      ({ entry }) => entry.name,
    ),
    contexts: firstOfEach(
      configs.flatMap(({ contexts }) => contexts),
      ({ name }) => name,
    ),
  };
}

function firstOfEach<T>(entries: readonly T[], nameOf: (entry: T) => string): T[] {
  return [...Map.groupBy(entries, nameOf).values()].flatMap(([first]) =>
    first === undefined ? [] : [first],
  );
}

/** The kubeconfig is valid, and has no context of this name. */
export class MissingContextError extends KubeError {}

export function selectContext(config: Kubeconfig, contextName?: string): SelectedContext {
  const name = contextName ?? config.currentContext;
  if (name === '') {
    throw new KubeError(
      'Config',
      `${config.origin} has no current-context. Name one with --context: ${namesOf(config.contexts)}`,
    );
  }
  const context = config.contexts.find((entry) => entry.name === name);
  if (!context) {
    throw new MissingContextError(
      'Config',
      `${config.origin} has no context ${name}, only: ${namesOf(config.contexts)}`,
    );
  }
  const origin = `context ${name} of ${context.origin}`;
  const cluster = config.clusters.find((entry) => entry.name === context.cluster);
  if (!cluster) throw missingEntryError(origin, 'cluster', context.cluster, namesOf(config.clusters));
  const user = config.users.find(({ entry }) => entry.name === context.user);
  if (!user && context.user) {
    throw missingEntryError(origin, 'user', context.user, namesOf(config.users.map(({ entry }) => entry)));
  }
  checkCluster(cluster, origin);
  return { context, cluster, user: user ?? { entry: { name: '' } }, origin };
}

function missingEntryError(origin: string, what: string, name: string, known: string): KubeError {
  return new KubeError(
    'Config',
    `${origin} refers to the missing ${what} ${name}. The kubeconfig has: ${known}`,
  );
}

/** The server is quoted in errors and logs, and sent to agents: it must not contain a secret. One that could is not quoted. */
function checkCluster({ name, server, proxyUrl }: Cluster, origin: string): void {
  const where = `cluster ${name} (${origin})`;
  const url = URL.parse(server);
  const secret = url ? secretPartOf(url) : undefined;
  if (secret !== undefined) {
    throw new KubeError(
      'Config',
      `${where} has a server with a ${secret}: expected https://host:port. Put credentials into the user of the kubeconfig`,
    );
  }
  if (!url || !/^https?:$/.test(url.protocol)) {
    const got = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/.test(server) ? `, got ${server}` : '';
    throw new KubeError('Config', `${where} has an invalid server: expected https://host:port${got}`);
  }
  if (proxyUrl) {
    throw new KubeError(
      'Config',
      `${where} has a proxy-url, which kubenode does not support. Make ${server} directly reachable`,
    );
  }
}

function secretPartOf({ username, password, search, hash }: URL): string | undefined {
  if (username || password) return 'user or password';
  if (search) return 'query';
  return hash ? 'fragment' : undefined;
}

function namesOf(entries: readonly { readonly name: string }[]): string {
  const names = entries.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en'));
  return names.length === 0 ? 'none' : names.join(', ');
}
