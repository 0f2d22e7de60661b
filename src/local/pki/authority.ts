/**
 * The keys and certificates of one cluster and of the shared etcd, as files. `ensure…` creates missing files and renews
 * certificates before they expire; it can be interrupted at any point and repeated. Servers reload changed files
 * without a restart.
 */
import { join } from 'node:path';
import { PRINCIPAL_CONTROLLERS, PRINCIPAL_SYNC } from '../../api/names.ts';
import { PRIVATE_MODE, PUBLIC_MODE, readFileIfExists, writeFileAtomic } from '../../os/files.ts';
import { firstAddress } from '../processes/addresses.ts';
import { LOOPBACK, SERVICE_ADDRESS } from '../processes/commands.ts';
import type { PlaneSettings } from '../state.ts';
import {
  type CertificatePair,
  type CertificateRequest,
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from './certificate.ts';
import { parsePair, renewalReason } from './inspect.ts';
import { CERTIFICATE_DAYS } from './lifetime.ts';
import { createPrincipal, type Principal } from './principal.ts';

export type { Principal } from './principal.ts';

/** Longer than a local cluster lives, because a new CA requires new certificates and kubeconfigs everywhere. */
const AUTHORITY_DAYS = 3650;

/** The administrator: members of system:masters need no role. */
export const ADMIN: Principal = { user: 'kubernetes-admin', groups: ['system:masters'] };
const CONTROLLER_MANAGER: Principal = { user: 'system:kube-controller-manager' };
const SCHEDULER: Principal = { user: 'system:kube-scheduler' };
const SYNC: Principal = createPrincipal(PRINCIPAL_SYNC);
/** The process of our own controllers, which runs beside a hosted control plane. */
const CONTROLLERS: Principal = createPrincipal(PRINCIPAL_CONTROLLERS);
/** The identity of the API server for kubelets. */
const KUBELET_CLIENT: Principal = { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };

export interface EtcdAccess {
  readonly caPem: string;
  readonly client: CertificatePair;
}

/** Ensures ca.pem, ca.crt, etcd.pem and client.pem. */
export async function ensureEtcdPki(folder: string, now: Date, renewAtPercent?: number): Promise<EtcdAccess> {
  const authority = await ensureAuthority(folder, 'kubenode local etcd', now);
  const server = { subject: { commonName: 'etcd' }, usage: 'peer', names: ['localhost', LOOPBACK] } as const;
  const life = { now, days: CERTIFICATE_DAYS, renewAtPercent };
  await ensurePair(join(folder, 'etcd.pem'), authority, { ...server, ...life });
  const client = { ...clientRequest({ user: 'kube-apiserver' }, now), renewAtPercent };
  return {
    caPem: authority.certPem,
    client: await ensurePair(join(folder, 'client.pem'), authority, client),
  };
}

export interface ClusterPki {
  readonly folder: string;
  readonly name: string;
  /** Names and addresses of the API server, besides those of this machine. */
  readonly names?: readonly string[];
  readonly now: Date;
  /** Only of a hosted control plane. */
  readonly plane?: PlaneSettings | undefined;
}

export interface ClusterAccess {
  readonly authority: CertificatePair;
  readonly admin: CertificatePair;
  readonly sync: CertificatePair;
}

/** Each cluster has its own CA, so that a certificate is valid in one cluster only. */
export async function ensureClusterPki(pki: ClusterPki): Promise<ClusterAccess> {
  const { folder, name, now } = pki;
  const authority = await ensureAuthority(folder, `kubenode local ${name}`, now);
  const pair = (file: string, request: CertificateRequest): Promise<CertificatePair> =>
    ensurePair(join(folder, file), authority, { ...request, renewAtPercent: pki.plane?.renewAtPercent });
  await ensureKey(join(folder, 'sa.key'));
  await pair('apiserver.pem', serverRequest(pki));
  await pair('kubelet-client.pem', clientRequest(KUBELET_CLIENT, now));
  await pair('controller-manager.pem', clientRequest(CONTROLLER_MANAGER, now));
  await pair('scheduler.pem', clientRequest(SCHEDULER, now));
  if (pki.plane) await pair('controllers.pem', clientRequest(CONTROLLERS, now));
  const sync = await pair('sync.pem', clientRequest(SYNC, now));
  return { authority, sync, admin: await pair('admin.pem', clientRequest(ADMIN, now)) };
}

export function issueClientCertificate(
  authority: CertificatePair,
  principal: Principal,
  now: Date,
): CertificatePair {
  return issueCertificate(authority, clientRequest(principal, now));
}

/** The existing authority of a cluster; undefined if it is missing or invalid. */
export async function readAuthority(folder: string): Promise<CertificatePair | undefined> {
  return parsePair(await readFileIfExists(join(folder, AUTHORITY_FILE)));
}

const AUTHORITY_FILE = 'ca.pem';

/** ca.pem contains the certificate and its key; ca.crt is a copy of the certificate for clients. */
async function ensureAuthority(folder: string, name: string, now: Date): Promise<CertificatePair> {
  const path = join(folder, AUTHORITY_FILE);
  const authority = (await readAuthority(folder)) ?? createAuthority(name, now, AUTHORITY_DAYS);
  await writeIfChanged(path, concatPem(authority), PRIVATE_MODE);
  await writeIfChanged(join(folder, 'ca.crt'), authority.certPem, PUBLIC_MODE);
  return authority;
}

/** Certificate and key are in one file, so that a crash cannot leave a pair that does not match. */
async function ensurePair(
  path: string,
  authority: CertificatePair,
  request: CertificateRequest,
): Promise<CertificatePair> {
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

function clientRequest({ user, groups = [] }: Principal, now: Date): CertificateRequest {
  const subject = { commonName: user, organizations: groups };
  return { subject, usage: 'client', now, days: CERTIFICATE_DAYS };
}

function serverRequest({ name, names = [], now, plane }: ClusterPki): CertificateRequest {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const defaultNames = [
    'localhost',
    LOOPBACK,
    '::1',
    plane ? firstAddress(plane.serviceCIDR) : SERVICE_ADDRESS,
    ...service,
    `${service.at(-1)}.${plane?.serviceDomain ?? 'cluster.local'}`,
  ];
  return {
    subject: { commonName: `kube-apiserver ${name}` },
    usage: 'server',
    names: [...new Set([...defaultNames, ...names])],
    now,
    days: CERTIFICATE_DAYS,
  };
}
