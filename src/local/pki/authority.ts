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
  type Leaf,
} from './leaves.ts';
import { type CertificateLife, lifeOf } from './lifetime.ts';
import type { Principal } from './principal.ts';

export { ADMIN } from './leaves.ts';
export type { Principal } from './principal.ts';

/** Longer than a local cluster lives, because a new CA requires new certificates and kubeconfigs everywhere. */
const AUTHORITY_DAYS = 3650;

export interface EtcdAccess {
  readonly caPem: string;
  readonly client: CertificatePair;
}

/** Ensures ca.pem, ca.crt, etcd.pem and client.pem. */
export async function ensureEtcdPki(folder: string, life: CertificateLife): Promise<EtcdAccess> {
  const authority = await ensureAuthority(folder, 'ca', 'kubenode local etcd', life.now);
  const pairs = await ensureLeaves(etcdLeaves(folder, life), { ca: authority });
  return { caPem: authority.certPem, client: pairOf(pairs, 'etcd-client') };
}

export interface ClusterAccess {
  readonly authority: CertificatePair;
  readonly admin: CertificatePair;
  readonly sync: CertificatePair;
}

/** Each cluster has its own CA, so that a certificate is valid in one cluster only. */
export async function ensureClusterPki(pki: ClusterPki): Promise<ClusterAccess> {
  const { folder, name, now } = pki;
  const authority = await ensureAuthority(folder, 'ca', `kubenode local ${name}`, now);
  const proxy = pki.plane && {
    'front-proxy-ca': await ensureAuthority(folder, 'front-proxy-ca', `kubenode front proxy ${name}`, now),
  };
  await ensureKey(join(folder, SERVICE_ACCOUNT_KEY));
  const pairs = await ensureLeaves(clusterLeaves(pki), { ca: authority, ...proxy });
  return { authority, sync: pairOf(pairs, 'sync'), admin: pairOf(pairs, 'admin') };
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

/** ca.pem contains the certificate and its key; ca.crt is a copy of the certificate for clients. */
async function ensureAuthority(
  folder: string,
  file: AuthorityName,
  name: string,
  now: Date,
): Promise<CertificatePair> {
  const authority = (await readAuthority(folder, file)) ?? createAuthority(name, now, AUTHORITY_DAYS);
  await writeIfChanged(authorityFile(folder, file), concatPem(authority), PRIVATE_MODE);
  await writeIfChanged(join(folder, `${file}.crt`), authority.certPem, PUBLIC_MODE);
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

function concatPem({ certPem, keyPem }: CertificatePair): string {
  return certPem + keyPem;
}
