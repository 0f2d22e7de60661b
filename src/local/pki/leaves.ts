/** Lists every certificate that the CAs of a control plane sign, with the file that has it and its key. */
import { join } from 'node:path';
import { PRINCIPAL_CONTROLLERS, PRINCIPAL_SYNC } from '../../api/names.ts';
import { firstAddress } from '../processes/addresses.ts';
import { ETCD_USER, FRONT_PROXY_USER, LOOPBACK, SERVICE_ADDRESS } from '../processes/commands.ts';
import type { PlaneSettings } from '../state.ts';
import type { CertificateRequest } from './certificate.ts';
import { type CertificateLife, lifeOf } from './lifetime.ts';
import { createPrincipal, type Principal } from './principal.ts';

export interface Leaf {
  /** The name of the certificate, which no other one of the control plane has. */
  readonly name: string;
  readonly path: string;
  /** The folder and the name of the CA that signs it. */
  readonly folder: string;
  readonly authority: AuthorityName;
  readonly request: CertificateRequest;
}

/** The authority that is being replaced, whose certificates the API server still serves. */
export const FORMER_AUTHORITY = 'ca.old';
export type AuthorityName = 'ca' | 'front-proxy-ca' | typeof FORMER_AUTHORITY;

/** The administrator: members of system:masters need no role. */
export const ADMIN: Principal = { user: 'kubernetes-admin', groups: ['system:masters'] };
/** The identity of the API server for kubelets. */
const KUBELET_CLIENT: Principal = { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };

const CLIENTS: readonly (readonly [name: string, principal: Principal])[] = [
  ['kubelet-client', KUBELET_CLIENT],
  ['controller-manager', { user: 'system:kube-controller-manager' }],
  ['scheduler', { user: 'system:kube-scheduler' }],
  ['sync', createPrincipal(PRINCIPAL_SYNC)],
  ['admin', ADMIN],
];

/** The process of our own controllers, which runs beside a hosted control plane. */
const CONTROLLERS: Principal = createPrincipal(PRINCIPAL_CONTROLLERS);

/** Lists the certificates of etcd: that of the server, and that of the API server as its client. */
export function etcdLeaves(
  folder: string,
  life: CertificateLife,
  names: readonly string[] = [],
): readonly Leaf[] {
  const server = {
    subject: { commonName: ETCD_USER },
    usage: 'peer',
    names: ['localhost', LOOPBACK, ...names],
  } as const;
  return [
    leafOf(folder, 'etcd', { ...server, ...life }),
    { ...leafOf(folder, 'client', clientRequest({ user: 'kube-apiserver' }, life)), name: 'etcd-client' },
  ];
}

export interface ClusterPki {
  readonly folder: string;
  readonly name: string;
  /** Names and addresses of the API server, besides those of this machine. */
  readonly names?: readonly string[];
  readonly now: Date;
  /** The certificates of authorities that are trusted as well, while they take over or are replaced. */
  readonly beside?: Partial<Readonly<Record<AuthorityName, string>>> | undefined;
  /** The authority of the certificate that the API server serves: `ca`, unless it is being replaced. */
  readonly server?: AuthorityName | undefined;
  /** Absent: the cluster is not a hosted control plane. */
  readonly plane?: PlaneSettings | undefined;
}

/** Lists the certificates of one cluster. Only a hosted control plane has our own controllers and a front proxy. */
export function clusterLeaves(pki: ClusterPki): readonly Leaf[] {
  const { folder, plane } = pki;
  const life = lifeOf(plane, pki.now);
  const client = ([name, principal]: readonly [string, Principal]): Leaf =>
    leafOf(folder, name, clientRequest(principal, life));
  const shared = [leafOf(folder, 'apiserver', serverRequest(pki, life), pki.server), ...CLIENTS.map(client)];
  if (!plane) return shared;
  const frontProxy = clientRequest({ user: FRONT_PROXY_USER }, life);
  return [
    ...shared,
    client(['controllers', CONTROLLERS]),
    leafOf(folder, 'front-proxy', frontProxy, 'front-proxy-ca'),
  ];
}

function leafOf(
  folder: string,
  name: string,
  request: CertificateRequest,
  authority: AuthorityName = 'ca',
): Leaf {
  return { name, path: join(folder, `${name}.pem`), folder, authority, request };
}

/** Returns the certificate of a manager as a server for its own health, which only this control plane asks for. */
export function managerServingLeaf(
  folder: string,
  name: string,
  life: CertificateLife,
  authority?: AuthorityName,
): Leaf {
  const subject = { commonName: name };
  const request = { subject, usage: 'server', names: ['localhost', LOOPBACK], ...life } as const;
  return leafOf(folder, name, request, authority);
}

export function clientRequest({ user, groups = [] }: Principal, life: CertificateLife): CertificateRequest {
  const subject = { commonName: user, organizations: groups };
  return { subject, usage: 'client', ...life };
}

function serverRequest({ name, names = [], plane }: ClusterPki, life: CertificateLife): CertificateRequest {
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
    ...life,
  };
}
