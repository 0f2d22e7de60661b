/** The keys and certificates of one cluster and of the shared etcd, as files. */
import { join } from 'node:path';
import { LOOPBACK, SERVICE_ADDRESS } from './commands.ts';
import { PRIVATE, PUBLIC, writeWhole } from './files.ts';
import {
  createAuthority,
  createServiceAccountKey,
  issue,
  type Pair,
  type Request,
} from './pki/certificate.ts';

/** Long, because replacing a CA replaces all that trust it: the cluster itself is shorter-lived. */
export const AUTHORITY_DAYS = 3650;
export const CERTIFICATE_DAYS = 365;

export interface Principal {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** The one user that needs no role. */
export const ADMIN: Principal = { user: 'kubernetes-admin', groups: ['system:masters'] };
export const CONTROLLER_MANAGER: Principal = { user: 'system:kube-controller-manager' };
export const SCHEDULER: Principal = { user: 'system:kube-scheduler' };

export async function writePair(folder: string, name: string, pair: Pair): Promise<void> {
  await writeWhole(join(folder, `${name}.key`), pair.keyPem, PRIVATE);
  await writeWhole(join(folder, `${name}.crt`), pair.certPem, PUBLIC);
}

export function clientCertificate(authority: Pair, principal: Principal, now: Date): Pair {
  return issue(authority, {
    subject: { commonName: principal.user, organizations: principal.groups ?? [] },
    usage: 'client',
    now,
    days: CERTIFICATE_DAYS,
  });
}

/** A CA for etcd, its own certificate, and the one that API servers come with. */
export async function writeEtcdPki(folder: string, now: Date): Promise<EtcdAccess> {
  const authority = createAuthority('kubenode local etcd', now, AUTHORITY_DAYS);
  await writePair(folder, 'ca', authority);
  return await issueEtcdCertificates(folder, authority, now);
}

export interface EtcdAccess {
  readonly caPem: string;
  readonly client: Pair;
}

export async function issueEtcdCertificates(folder: string, authority: Pair, now: Date): Promise<EtcdAccess> {
  const names = ['localhost', LOOPBACK];
  const server: Request = {
    subject: { commonName: 'etcd' },
    usage: 'peer',
    names,
    now,
    days: CERTIFICATE_DAYS,
  };
  const client = clientCertificate(authority, { user: 'kube-apiserver' }, now);
  await writePair(folder, 'etcd', issue(authority, server));
  await writePair(folder, 'client', client);
  return { caPem: authority.certPem, client };
}

export interface ClusterPki {
  readonly folder: string;
  readonly name: string;
  /** Names and addresses besides those of this machine. */
  readonly names?: readonly string[];
  readonly etcd: EtcdAccess;
  readonly now: Date;
}

/** A CA of its own for each cluster: a certificate of one opens no door of another. */
export async function writeClusterPki(pki: ClusterPki): Promise<Pair> {
  const authority = createAuthority(`kubenode local ${pki.name}`, pki.now, AUTHORITY_DAYS);
  const keys = createServiceAccountKey();
  await writePair(pki.folder, 'ca', authority);
  await writeWhole(join(pki.folder, 'sa.key'), keys.privatePem, PRIVATE);
  await writeWhole(join(pki.folder, 'sa.pub'), keys.publicPem, PUBLIC);
  await issueClusterCertificates(pki, authority);
  return authority;
}

export async function issueClusterCertificates(pki: ClusterPki, authority: Pair): Promise<void> {
  const { folder, now } = pki;
  const kubelet: Principal = { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };
  await writePair(folder, 'apiserver', issue(authority, serverRequest(pki)));
  await writePair(folder, 'kubelet-client', clientCertificate(authority, kubelet, now));
  await writePair(folder, 'etcd-client', pki.etcd.client);
  await writeWhole(join(folder, 'etcd-ca.crt'), pki.etcd.caPem, PUBLIC);
}

function serverRequest({ name, names = [], now }: ClusterPki): Request {
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const own = ['localhost', LOOPBACK, '::1', SERVICE_ADDRESS];
  return {
    subject: { commonName: `kube-apiserver ${name}` },
    usage: 'server',
    names: [...new Set([...own, ...service, ...names])],
    now,
    days: CERTIFICATE_DAYS,
  };
}
