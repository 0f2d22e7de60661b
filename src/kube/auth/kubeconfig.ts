/** The text of a kubeconfig as entries, checked, with paths made absolute. Pure, but for the names of files. */
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
  /** What client-node's parser leaves out. */
  readonly tokenFile?: string;
  readonly impersonate?: Impersonation;
  /** Of the kubeconfig: a plug-in may be named from there. */
  readonly folder?: string;
}

/** Every entry knows where it comes from: several files may be merged. */
interface From {
  readonly origin: string;
}

export interface Kubeconfig {
  readonly origin: string;
  readonly currentContext: string;
  readonly clusters: readonly (Cluster & From)[];
  readonly users: readonly (KubeconfigUser & From)[];
  readonly contexts: readonly (Context & From)[];
}

export interface SelectedContext {
  readonly context: Context;
  readonly cluster: Cluster;
  readonly user: KubeconfigUser;
  /** "context prod of /home/me/.kube/config" */
  readonly origin: string;
}

interface Place {
  /** For messages: the file, or "the given kubeconfig". */
  readonly origin: string;
  readonly file?: string;
  /** May name files and programs of this machine. */
  readonly trusted: boolean;
}

export function readKubeconfig(text: string, place: Place): Kubeconfig {
  const { origin } = place;
  const root = parsed(text, origin);
  try {
    const clusters = newClusters(valueAt(root, 'clusters')).map((cluster) => ({
      ...absolute(cluster, ['caFile'], place),
      origin,
    }));
    const contexts = newContexts(valueAt(root, 'contexts')).map((context) => ({ ...context, origin }));
    const users = usersOf(root, place).map((user) => ({ ...user, origin }));
    return { origin, currentContext: textAt(root, 'current-context') ?? '', clusters, users, contexts };
  } catch (error) {
    throw new KubeError('Config', `${origin} is no valid kubeconfig: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function parsed(text: string, origin: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  // The parser quotes the text, which holds keys and tokens: its first line says where and what.
  if (error) throw new KubeError('Config', `${origin} is no valid YAML: ${error.message.split('\n')[0]}`);
  const root: unknown = document.toJS({ maxAliasCount: 100 });
  if (isRecord(root)) return root;
  throw new KubeError(
    'Config',
    `${origin} is no kubeconfig: it is ${text.trim() === '' ? 'empty' : 'no mapping'}`,
  );
}

function usersOf(root: unknown, place: Place): KubeconfigUser[] {
  const raw = listAt(root, 'users');
  // Its parser reads `token-file`, which is no field of a kubeconfig, at once; the real one is `tokenFile`, and it changes.
  return newUsers(raw).map((entry, index) => {
    const user = valueAt(raw, index, 'user');
    const tokenFile = textAt(user, 'tokenFile');
    const impersonate = impersonationOf(user);
    refuseUntrusted(entry, tokenFile, place);
    return {
      entry: absolute(entry, ['certFile', 'keyFile'], place),
      ...(tokenFile ? { tokenFile: absolutePath(tokenFile, place) } : {}),
      ...(impersonate ? { impersonate } : {}),
      ...(place.file ? { folder: resolve(dirname(place.file)) } : {}),
    };
  });
}

function impersonationOf(user: unknown): Impersonation | undefined {
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

/** A text from a Secret must not make us read our files for its server, or run a program. */
function refuseUntrusted(entry: User, tokenFile: string | undefined, { trusted }: Place): void {
  if (trusted) return;
  const named = entry.certFile ?? entry.keyFile ?? tokenFile;
  if (named) throw new Error(`user ${entry.name} names the file ${named}: inline its content`);
  if (entry.exec ?? entry.authProvider) {
    throw new Error(`user ${entry.name} wants to run a plug-in, which only a kubeconfig of this machine may`);
  }
}

function absolute<E extends object>(entry: E, fields: readonly (keyof E)[], place: Place): E {
  const changed = fields.flatMap((field) => {
    const path = entry[field];
    return typeof path === 'string' ? [[field, absolutePath(path, place)] as const] : [];
  });
  return { ...entry, ...Object.fromEntries(changed) };
}

function absolutePath(path: string, { file, trusted, origin }: Place): string {
  if (!trusted) throw new Error(`${origin} names the file ${path}: inline its content`);
  return isAbsolute(path) ? path : resolve(file ? dirname(file) : '.', path);
}

/** A plug-in written with a path is meant from the kubeconfig's folder, one without is looked for in $PATH. */
export function resolveCommand(command: string, folder: string | undefined): string {
  return command.includes(sep) && folder ? resolve(folder, command) : command;
}

/** As kubectl merges: of two entries with one name the first wins. */
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

export function selectContext(config: Kubeconfig, wanted?: string): SelectedContext {
  const name = wanted ?? config.currentContext;
  if (name === '') {
    throw new KubeError(
      'Config',
      `${config.origin} has no current-context: name one with --context (${namesOf(config.contexts)})`,
    );
  }
  const context = config.contexts.find((entry) => entry.name === name);
  if (!context) {
    throw new KubeError(
      'Config',
      `${config.origin} has no context ${name}: it has ${namesOf(config.contexts)}`,
    );
  }
  const origin = `context ${name} of ${context.origin}`;
  const cluster = config.clusters.find((entry) => entry.name === context.cluster);
  if (!cluster) throw missing(origin, 'cluster', context.cluster, namesOf(config.clusters));
  const user = config.users.find(({ entry }) => entry.name === context.user);
  if (!user && context.user) {
    throw missing(origin, 'user', context.user, namesOf(config.users.map(({ entry }) => entry)));
  }
  checkCluster(cluster, origin);
  return { context, cluster, user: user ?? { entry: { name: '' } }, origin };
}

function missing(origin: string, what: string, name: string, known: string): KubeError {
  return new KubeError('Config', `${origin} names the ${what} ${name}, which is not there: it has ${known}`);
}

function checkCluster({ name, server, proxyUrl }: Cluster, origin: string): void {
  const where = `cluster ${name} (${origin})`;
  if (proxyUrl) {
    throw new KubeError(
      'Config',
      `${where} has a proxy-url, which kubenode does not support: make ${server} reachable directly`,
    );
  }
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? '')) {
    throw new KubeError(
      'Config',
      `${where} has the server ${server}, which is no URL: write https://host:port`,
    );
  }
}

function namesOf(entries: readonly { readonly name: string }[]): string {
  const names = entries.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b, 'en'));
  return names.length === 0 ? 'none' : names.join(', ');
}
