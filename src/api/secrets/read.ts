/**
 * Reads the value of a Secret that an object references: the only function that does. A commit can name any Secret of
 * NAMESPACE, so the Secret itself permits one use, and the hosts that its value may be sent to.
 */
import type { Store } from '../../kube/cache/store.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../names.ts';
import type { SecretReference, SecretUse } from './references.ts';

export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * The destinations that a value is sent to, besides what the Secret itself names: the host of a URL with its port, if that is not the
 * default.
 */
export type SecretDestination = { readonly host: string } | { readonly hosts: readonly string[] } | 'nowhere';

export function readSecret(
  secrets: Pick<Store, 'get'>,
  reference: SecretReference,
  destination: SecretDestination,
): string {
  const { name, key, user } = reference;
  const secret = secrets.get({ name, namespace: NAMESPACE });
  const where = `Secret ${NAMESPACE}/${name}`;
  if (!secret) {
    throw new SecretError(
      `${where}, which ${user} references, does not exist: create it with the key ${key} and the annotation ${ANNOTATION_SECRET_USE}`,
    );
  }
  const reason = refusalReason(secret, reference, destination);
  if (reason !== undefined) throw new SecretError(`${where} ${reason}`);
  const encoded = textAt(secret, 'data', key);
  if (encoded === undefined) {
    throw new SecretError(`${where}, which ${user} references, has no key ${key}: add it`);
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** Tells whether the Secret has a key, without the value. False for a Secret that does not exist. */
export function hasSecretKey(
  secrets: Pick<Store, 'get'>,
  { name, key }: Pick<SecretReference, 'name' | 'key'>,
): boolean {
  return textAt(secrets.get({ name, namespace: NAMESPACE }), 'data', key) !== undefined;
}

/** Returns a version that differs after every change of the Secret, also of what it permits. */
export function secretVersion(secrets: Pick<Store, 'get'>, { name }: SecretReference): string {
  const metadata = secrets.get({ name, namespace: NAMESPACE })?.metadata;
  return `${metadata?.uid ?? ''}/${metadata?.resourceVersion ?? ''}`;
}

const PURPOSES: Readonly<Record<SecretUse, string>> = {
  kubeconfig: 'a kubeconfig',
  git: 'a git credential',
  'git-ca': 'certificate authorities',
  'git-webhook': 'a webhook secret',
  'maintenance-webhook': 'a webhook secret of maintenance events',
  'git-status': 'a credential for commit statuses',
  'git-push': 'a credential for pushing',
  sops: 'age identities of SOPS',
  revisions: 'the key of kept revisions',
  ssh: 'an SSH key',
  bmc: 'the account of a BMC',
};

function refusalReason(
  secret: KubeObject,
  reference: SecretReference,
  destination: SecretDestination,
): string | undefined {
  const { use, user } = reference;
  const permitted = readPermission(secret);
  if (permitted.use !== undefined && permitted.use !== use) {
    return `is ${quote(permitted.use)} (annotation ${ANNOTATION_SECRET_USE}), but ${user} uses it as ${use}: name another Secret`;
  }
  const hosts = hostsOf(destination);
  const invalid = hosts.find((host) => !HOST.test(host));
  if (invalid !== undefined) return `is not sent to ${quote(invalid)}: this is not a host name`;
  if (permitted.use === use && hosts.every((host) => permitted.hosts.includes(host))) return undefined;
  const missing = hosts.filter((host) => !permitted.hosts.includes(host));
  const where = hosts.length === 0 ? '' : ` for ${(missing.length > 0 ? missing : hosts).join(' and ')}`;
  const what = `use it as ${PURPOSES[use]}${where}`;
  return `does not permit ${user} to ${what}. To permit it: ${commandFor(secret, use, [...new Set([...permitted.hosts, ...hosts])])}`;
}

function hostsOf(destination: SecretDestination): readonly string[] {
  if (destination === 'nowhere') return [];
  const hosts = 'host' in destination ? [destination.host] : destination.hosts;
  return hosts.map((host) => host.toLowerCase());
}

function commandFor(secret: KubeObject, use: SecretUse, hosts: readonly string[]): string {
  const overwrite = secret.metadata.annotations?.[ANNOTATION_SECRET_USE] === undefined ? '' : ' --overwrite';
  const value = hosts.length > 0 ? `${use}; ${hosts.join(', ')}` : use;
  return `kubectl -n ${NAMESPACE} annotate${overwrite} secret ${secret.metadata.name} '${ANNOTATION_SECRET_USE}=${value}'`;
}

/** Matches a host. A person pastes the command into a shell: nothing in a host may need quotes. */
const HOST = /^([A-Za-z0-9]([A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/;

interface SecretPermission {
  readonly use: string | undefined;
  readonly hosts: readonly string[];
}

function readPermission({ metadata }: KubeObject): SecretPermission {
  const [use = '', hosts = ''] = (metadata.annotations?.[ANNOTATION_SECRET_USE] ?? '').split(';');
  const names = hosts.split(',').map((host) => host.trim().toLowerCase());
  return { use: use.trim() || undefined, hosts: names.filter((host) => HOST.test(host)) };
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 253));
}
