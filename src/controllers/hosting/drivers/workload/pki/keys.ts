/**
 * The keys and certificates of a control plane as the content of one Secret. It is created at once, so that there is never a part of them;
 * a key that is made only once is never made again while the record has its digest.
 */

import { SERVICE_ACCOUNT_KEY } from '../../../../../local/pki/authority.ts';
import {
  type CertificatePair,
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from '../../../../../local/pki/certificate.ts';
import { parsePair, readExpiry } from '../../../../../local/pki/inspect.ts';
import {
  type AuthorityName,
  clusterLeaves,
  etcdLeaves,
  type Leaf,
  managerServingLeaf,
} from '../../../../../local/pki/leaves.ts';
import { lifeOf } from '../../../../../local/pki/lifetime.ts';
import { describeLeaf, keyDigestOf } from '../../../../../local/pki/report.ts';
import type { PlaneSettings } from '../../../../../local/state.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  isApiServer,
  isEtcdMember,
  type PlaneCertificate,
  type PlaneMember,
} from '../../driver.ts';
import { type KeyName, PLANE_KEYS } from '../../keys.ts';

/** The content of files by their names in the Secret. */
export type KeyFiles = Readonly<Record<string, string>>;

const ETCD = 'etcd';
const CLUSTER = 'cluster';
/** Longer than a cluster lives: a new CA needs new certificates and kubeconfigs everywhere. */
const AUTHORITY_DAYS = 3650;

export interface KeyRequest {
  readonly cluster: string;
  readonly settings: PlaneSettings;
  /** Names and addresses of the API server, and of etcd. */
  readonly apiServerNames: readonly string[];
  readonly etcdNames: readonly string[];
  /** The authority of what members serve, but etcd. Undefined: no rotation keeps another one. */
  readonly server?: AuthorityName | undefined;
  readonly now: Date;
}

export const KEY_FILES: Readonly<Record<KeyName, string>> = {
  'etcd-ca': fileOf(ETCD, 'ca.pem'),
  ca: fileOf(CLUSTER, 'ca.pem'),
  'front-proxy-ca': fileOf(CLUSTER, 'front-proxy-ca.pem'),
  'service-accounts': fileOf(CLUSTER, SERVICE_ACCOUNT_KEY),
};

/** The certificates of servers, each with the member that serves it. */
const SERVED_BY: Readonly<Record<string, PlaneMember>> = {
  etcd: 'etcd',
  apiserver: 'kube-apiserver',
  'controller-manager-serving': 'kube-controller-manager',
  'scheduler-serving': 'kube-scheduler',
};

/** A key of a Secret cannot have a slash. */
function fileOf(folder: string, name: string): string {
  return `${folder}.${name}`;
}

export function leafFile({ path }: Pick<Leaf, 'path'>): string {
  return path.replace('/', '.');
}

export function planeLeaves({ cluster, settings, now, server, ...names }: KeyRequest): readonly Leaf[] {
  const life = lifeOf(settings, now);
  const pki = { folder: CLUSTER, name: cluster, names: names.apiServerNames, now, plane: settings, server };
  return [
    ...etcdLeaves(ETCD, life, names.etcdNames),
    ...clusterLeaves(pki),
    managerServingLeaf(CLUSTER, 'controller-manager-serving', life, server),
    managerServingLeaf(CLUSTER, 'scheduler-serving', life, server),
  ];
}

/** Returns the files with what is missing or due. */
export function completeKeys(files: KeyFiles, request: KeyRequest): KeyFiles {
  const { cluster, now } = request;
  const authority = (name: string): string => textOf(createAuthority(name, now, AUTHORITY_DAYS));
  const made: Readonly<Record<KeyName, () => string>> = {
    'etcd-ca': () => authority(`kubenode etcd ${cluster}`),
    ca: () => authority(`kubenode ${cluster}`),
    'front-proxy-ca': () => authority(`kubenode front proxy ${cluster}`),
    'service-accounts': createServiceAccountKey,
  };
  const keys = PLANE_KEYS.map((name) => [KEY_FILES[name], files[KEY_FILES[name]] ?? made[name]()] as const);
  const complete = { ...files, ...Object.fromEntries(keys) };
  const leaves = planeLeaves(request).flatMap((leaf) => {
    const signer = authorityOf(complete, leaf);
    const { due } = describeLeaf(leaf, complete[leafFile(leaf)], signer);
    if (due === undefined || !signer) return [];
    return [[leafFile(leaf), textOf(issueCertificate(signer, leaf.request))] as const];
  });
  return leaves.length === 0 && keys.every(([name]) => files[name] !== undefined)
    ? files
    : { ...complete, ...Object.fromEntries(leaves) };
}

function authorityOf(files: KeyFiles, { folder, authority }: Leaf): CertificatePair | undefined {
  return parsePair(files[fileOf(folder, `${authority}.pem`)]);
}

/** Certificate and key are together, so that there is never a pair that does not match. */
function textOf({ certPem, keyPem }: CertificatePair): string {
  return certPem + keyPem;
}

/** Returns the problems of the keys whose digests are recorded, while no others take over. */
export function lostKeysOf(
  files: KeyFiles,
  recorded: Readonly<Partial<Record<KeyName, string>>> = {},
): readonly string[] {
  return PLANE_KEYS.flatMap((name) => {
    if (recorded[name] === undefined) return [];
    const digest = keyDigestOf(files[KEY_FILES[name]]);
    if (digest === recorded[name]) return [];
    return digest === undefined
      ? [`${KEY_FILES[name]} is missing or damaged`]
      : [`${KEY_FILES[name]} is not the key that it was made with`];
  });
}

/** Returns the digests of all keys that can be read. */
export function digestsOf(files: KeyFiles): Readonly<Partial<Record<KeyName, string>>> {
  const digests = PLANE_KEYS.map((name) => [name, keyDigestOf(files[KEY_FILES[name]])] as const);
  return Object.fromEntries(digests.filter(([, digest]) => digest !== undefined));
}

export function reportKeys(files: KeyFiles, request: KeyRequest): readonly PlaneCertificate[] {
  const leaves = planeLeaves(request).map((leaf) => {
    const { name, due, file } = describeLeaf(leaf, files[leafFile(leaf)], authorityOf(files, leaf));
    const { issuedAt, notAfter, renewAt } = file ?? {};
    return { name, due, issuedAt, notAfter, renewAt, servedBy: serversOf(name, request) };
  });
  const authorities = PLANE_KEYS.flatMap((name) => {
    const pair = parsePair(files[KEY_FILES[name]]);
    return pair ? [{ name, notAfter: readExpiry(pair.certPem) }] : [];
  });
  return [...leaves, ...authorities];
}

/** Etcd has a name for each of its members. */
function serversOf(leaf: string, { etcdNames }: KeyRequest): readonly PlaneMember[] {
  const server = SERVED_BY[leaf];
  if (server === undefined) return [];
  if (isEtcdMember(server)) return ETCD_MEMBERS.slice(0, etcdNames.length);
  return isApiServer(server) ? API_SERVERS : [server];
}

/** Returns the pair of a leaf by its name. */
export function pairOf(files: KeyFiles, request: KeyRequest, name: string): CertificatePair | undefined {
  const leaf = planeLeaves(request).find((each) => each.name === name);
  return leaf && parsePair(files[leafFile(leaf)]);
}

/** Returns the certificate that a member should serve. */
export function servedFile(
  files: KeyFiles,
  request: KeyRequest,
  member: PlaneMember,
): CertificatePair | undefined {
  const name = Object.keys(SERVED_BY).find((leaf) => serversOf(leaf, request).includes(member));
  return name === undefined ? undefined : pairOf(files, request, name);
}

/** Returns the file with the certificates that are trusted while two authorities are, or one of them takes over. */
export function trustedFile(name: KeyName): string {
  return KEY_FILES[name].replace(/\.pem$/, '.crt');
}

/** Returns the certificates of the authorities that clients trust, without a key: those of one authority, but in a rotation. */
export function trustedCertificates(files: KeyFiles, name: KeyName): string | undefined {
  return files[trustedFile(name)] ?? parsePair(files[KEY_FILES[name]])?.certPem;
}
