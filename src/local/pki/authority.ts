/**
 * The keys and certificates of one cluster and of the shared etcd, as files. `ensure…` creates missing files and renews
 * certificates before they expire; it can be interrupted at any point and repeated. Servers reload changed files
 * without a restart.
 */
import { join } from 'node:path';
import { PRIVATE_MODE, PUBLIC_MODE, readFileIfExists, writeFileAtomic } from '../../os/files.ts';
import {
  type CertificatePair,
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from './certificate.ts';
import { parsePair, renewalReason } from './inspect.ts';
import {
  type AuthorityName,
  type ClusterPki,
  clientRequest,
  clusterLeaves,
  etcdLeaves,
  FORMER_AUTHORITY,
  type Leaf,
} from './leaves.ts';
import { type CertificateLife, lifeOf } from './lifetime.ts';
import type { Principal } from './principal.ts';

export { ADMIN } from './leaves.ts';
export type { Principal } from './principal.ts';

/** Longer than a local cluster lives, because a new CA requires new certificates and kubeconfigs everywhere. */
export const AUTHORITY_DAYS = 3650;

export interface EtcdAccess {
  readonly caPem: string;
  readonly client: CertificatePair;
}

/** Ensures ca.pem, ca.crt, etcd.pem and client.pem. `beside` is trusted as well, while another authority takes over. */
export async function ensureEtcdPki(
  folder: string,
  life: CertificateLife,
  beside?: string,
): Promise<EtcdAccess> {
  const place = { folder, file: 'ca', beside } as const;
  const authority = await ensureAuthority(place, 'kubenode local etcd', life.now);
  const pairs = await ensureLeaves(etcdLeaves(folder, life), { ca: authority });
  return { caPem: trustedPem(authority, beside), client: pairOf(pairs, 'etcd-client') };
}

export interface ClusterAccess {
  readonly authority: CertificatePair;
  /** The certificates of the authorities that clients trust: of that one, and of another one while it takes over. */
  readonly caPem: string;
  readonly admin: CertificatePair;
  readonly sync: CertificatePair;
}

/** Each cluster has its own CA, so that a certificate is valid in one cluster only. */
export async function ensureClusterPki(pki: ClusterPki): Promise<ClusterAccess> {
  const { folder, name, now, beside = {} } = pki;
  const place = (file: AuthorityName): AuthorityPlace => ({ folder, file, beside: beside[file] });
  const authority = await ensureAuthority(place('ca'), `kubenode local ${name}`, now);
  const proxy = pki.plane && {
    'front-proxy-ca': await ensureAuthority(place('front-proxy-ca'), `kubenode front proxy ${name}`, now),
  };
  await ensureKey(join(folder, SERVICE_ACCOUNT_KEY));
  const former = pki.server === FORMER_AUTHORITY ? await readAuthority(folder, FORMER_AUTHORITY) : undefined;
  const pairs = await ensureLeaves(clusterLeaves(pki), {
    ca: authority,
    ...proxy,
    ...(former ? { [FORMER_AUTHORITY]: former } : {}),
  });
  const caPem = trustedPem(authority, beside.ca);
  return { authority, caPem, sync: pairOf(pairs, 'sync'), admin: pairOf(pairs, 'admin') };
}

export const SERVICE_ACCOUNT_KEY = 'sa.key';

/** Issues a certificate of the usual lifetime, which is not stored. */
export function issueClientCertificate(
  authority: CertificatePair,
  principal: Principal,
  now: Date,
): CertificatePair {
  return issueCertificate(authority, clientRequest(principal, lifeOf(undefined, now)));
}

/** The existing authority of a cluster; undefined if it is missing or invalid. */
export async function readAuthority(
  folder: string,
  name: AuthorityName = 'ca',
): Promise<CertificatePair | undefined> {
  return parsePair(await readFileIfExists(authorityFile(folder, name)));
}

export function authorityFile(folder: string, name: AuthorityName): string {
  return join(folder, `${name}.pem`);
}

/** Returns the certificates of the authorities that clients trust. Undefined: the file is missing. */
export async function readTrusted(folder: string, name: AuthorityName = 'ca'): Promise<string | undefined> {
  return await readFileIfExists(trustedFile(folder, name));
}

function trustedFile(folder: string, name: AuthorityName): string {
  return join(folder, `${name}.crt`);
}

interface AuthorityPlace {
  readonly folder: string;
  readonly file: AuthorityName;
  /** The certificate of another authority that is trusted as well. */
  readonly beside?: string | undefined;
}

function trustedPem({ certPem }: CertificatePair, beside = ''): string {
  return certPem + beside;
}

/** ca.pem contains the certificate and its key; ca.crt has the certificates that clients trust. */
async function ensureAuthority(
  { folder, file, beside }: AuthorityPlace,
  name: string,
  now: Date,
): Promise<CertificatePair> {
  const authority = (await readAuthority(folder, file)) ?? createAuthority(name, now, AUTHORITY_DAYS);
  await writeIfChanged(authorityFile(folder, file), concatPem(authority), PRIVATE_MODE);
  await writeIfChanged(trustedFile(folder, file), trustedPem(authority, beside), PUBLIC_MODE);
  return authority;
}

type Pairs = ReadonlyMap<string, CertificatePair>;

async function ensureLeaves(
  leaves: readonly Leaf[],
  authorities: Partial<Record<AuthorityName, CertificatePair>>,
): Promise<Pairs> {
  const pairs = new Map<string, CertificatePair>();
  for (const leaf of leaves) {
    const authority = authorities[leaf.authority];
    if (authority) pairs.set(leaf.name, await ensurePair(leaf, authority));
  }
  return pairs;
}

function pairOf(pairs: Pairs, name: string): CertificatePair {
  const pair = pairs.get(name);
  if (!pair) throw new Error(`expected a certificate ${name}`);
  return pair;
}

/** Certificate and key are in one file, so that a crash cannot leave a pair that does not match. */
async function ensurePair({ path, request }: Leaf, authority: CertificatePair): Promise<CertificatePair> {
  const existing = parsePair(await readFileIfExists(path));
  if (existing && renewalReason(existing, authority, request) === undefined) return existing;
  const pair = issueCertificate(authority, request);
  await writeFileAtomic(path, concatPem(pair), PRIVATE_MODE);
  return pair;
}

async function ensureKey(path: string): Promise<void> {
  if ((await readFileIfExists(path)) !== undefined) return;
  await writeFileAtomic(path, createServiceAccountKey(), PRIVATE_MODE);
}

export async function writeIfChanged(path: string, content: string, mode: number): Promise<void> {
  if ((await readFileIfExists(path)) !== content) await writeFileAtomic(path, content, mode);
}

export function concatPem({ certPem, keyPem }: CertificatePair): string {
  return certPem + keyPem;
}
