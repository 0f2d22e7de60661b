/**
 * The keys and certificates of one cluster and of the shared etcd, as files. `ensure…` makes what is missing and
 * renews what is near its end; it can be stopped at any line and simply runs again. Running servers notice new files
 * by themselves, so nothing has to be restarted.
 */
import { join } from 'node:path';
import { PRINCIPAL_SYNC } from '../../api/names.ts';
import { PRIVATE_MODE, PUBLIC_MODE, readFileIfExists, writeFileAtomic } from '../../os/files.ts';
import { LOOPBACK, SERVICE_ADDRESS } from '../processes/commands.ts';
import { createAuthority, createServiceAccountKey, issue, type Pair, type Request } from './certificate.ts';
import { certificateProblem, parsePair } from './inspect.ts';
import { type Principal, principalNamed } from './principal.ts';

export type { Principal } from './principal.ts';

/** Long, because replacing a CA replaces all that trust it: the cluster itself is shorter-lived. */
const AUTHORITY_DAYS = 3650;
const CERTIFICATE_DAYS = 365;

/** The one user that needs no role. */
export const ADMIN: Principal = { user: 'kubernetes-admin', groups: ['system:masters'] };
const CONTROLLER_MANAGER: Principal = { user: 'system:kube-controller-manager' };
const SCHEDULER: Principal = { user: 'system:kube-scheduler' };
/** Sync is told apart from an administrator here too. */
const SYNC: Principal = principalNamed(PRINCIPAL_SYNC);
/** What the API server is to a kubelet. */
const KUBELET_CLIENT: Principal = { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };

export interface EtcdAccess {
  readonly caPem: string;
  readonly client: Pair;
}

/** ca.pem, ca.crt, etcd.pem, client.pem */
export async function ensureEtcdPki(folder: string, now: Date): Promise<EtcdAccess> {
  const authority = await ensureAuthority(folder, 'kubenode local etcd', now);
  const server = { subject: { commonName: 'etcd' }, usage: 'peer', names: ['localhost', LOOPBACK] } as const;
  await ensurePair(join(folder, 'etcd.pem'), authority, { ...server, now, days: CERTIFICATE_DAYS });
  const client = clientRequest({ user: 'kube-apiserver' }, now);
  return {
    caPem: authority.certPem,
    client: await ensurePair(join(folder, 'client.pem'), authority, client),
  };
}

export interface ClusterPki {
  readonly folder: string;
  readonly name: string;
  /** Names and addresses besides those of this machine. */
  readonly names?: readonly string[];
  readonly now: Date;
}

export interface ClusterAccess {
  readonly authority: Pair;
  readonly admin: Pair;
  readonly sync: Pair;
}

/** A CA of its own for each cluster: a certificate of one opens no door of another. */
export async function ensureClusterPki(pki: ClusterPki): Promise<ClusterAccess> {
  const { folder, name, now } = pki;
  const authority = await ensureAuthority(folder, `kubenode local ${name}`, now);
  const pair = (file: string, request: Request): Promise<Pair> =>
    ensurePair(join(folder, file), authority, request);
  await ensureKey(join(folder, 'sa.key'));
  await pair('apiserver.pem', serverRequest(pki));
  await pair('kubelet-client.pem', clientRequest(KUBELET_CLIENT, now));
  await pair('controller-manager.pem', clientRequest(CONTROLLER_MANAGER, now));
  await pair('scheduler.pem', clientRequest(SCHEDULER, now));
  const sync = await pair('sync.pem', clientRequest(SYNC, now));
  return { authority, sync, admin: await pair('admin.pem', clientRequest(ADMIN, now)) };
}

export function clientCertificate(authority: Pair, principal: Principal, now: Date): Pair {
  return issue(authority, clientRequest(principal, now));
}

/** The authority of a cluster that is there already; undefined when it is not. */
export async function readAuthority(folder: string): Promise<Pair | undefined> {
  return parsePair(await readFileIfExists(join(folder, AUTHORITY_FILE)));
}

const AUTHORITY_FILE = 'ca.pem';

/** ca.pem with the key is the truth, ca.crt the copy for those who only need to trust it. */
async function ensureAuthority(folder: string, name: string, now: Date): Promise<Pair> {
  const path = join(folder, AUTHORITY_FILE);
  const authority = (await readAuthority(folder)) ?? createAuthority(name, now, AUTHORITY_DAYS);
  await writeChanged(path, together(authority), PRIVATE_MODE);
  await writeChanged(join(folder, 'ca.crt'), authority.certPem, PUBLIC_MODE);
  return authority;
}

/** Certificate and key in one file: two could be torn apart by a crash, and would never fit again. */
async function ensurePair(path: string, authority: Pair, request: Request): Promise<Pair> {
  const present = parsePair(await readFileIfExists(path));
  if (present && certificateProblem(present, authority, request) === undefined) return present;
  const pair = issue(authority, request);
  await writeFileAtomic(path, together(pair), PRIVATE_MODE);
  return pair;
}

async function ensureKey(path: string): Promise<void> {
  if ((await readFileIfExists(path)) !== undefined) return;
  await writeFileAtomic(path, createServiceAccountKey(), PRIVATE_MODE);
}

export async function writeChanged(path: string, content: string, mode: number): Promise<void> {
  if ((await readFileIfExists(path)) !== content) await writeFileAtomic(path, content, mode);
}

function together({ certPem, keyPem }: Pair): string {
  return certPem + keyPem;
}

function clientRequest({ user, groups = [] }: Principal, now: Date): Request {
  const subject = { commonName: user, organizations: groups };
  return { subject, usage: 'client', now, days: CERTIFICATE_DAYS };
}

function serverRequest({ name, names = [], now }: ClusterPki): Request {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const own = ['localhost', LOOPBACK, '::1', SERVICE_ADDRESS, ...service, `${service.at(-1)}.cluster.local`];
  return {
    subject: { commonName: `kube-apiserver ${name}` },
    usage: 'server',
    names: [...new Set([...own, ...names])],
    now,
    days: CERTIFICATE_DAYS,
  };
}
