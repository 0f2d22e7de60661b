/** Access to the clusters of a fleet: certificates and kubeconfigs. */
import { join } from 'node:path';
import { PRINCIPAL_SYNC } from '../../api/names.ts';
import { PRIVATE_MODE } from '../../os/files.ts';
import { LocalError } from '../errors.ts';
import type { Layout } from '../layout.ts';
import { listServerAddresses } from '../processes/addresses.ts';
import { outsideUrl, serverUrl } from '../processes/specs.ts';
import type { FleetState, LocalClusterState } from '../state.ts';
import {
  ADMIN,
  type ClusterAccess,
  type EtcdAccess,
  ensureClusterPki,
  ensureEtcdPki,
  issueClientCertificate,
  readAuthority,
  readTrusted,
  writeIfChanged,
} from './authority.ts';
import type { CertificatePair } from './certificate.ts';
import { formatComponentKubeconfig, formatKubeconfig, type KubeconfigEntry } from './kubeconfig.ts';
import { type AuthorityName, type ClusterPki, clusterLeaves, etcdLeaves, type Leaf } from './leaves.ts';
import { lifeOf } from './lifetime.ts';
import { createPrincipal, type Principal } from './principal.ts';

export interface FleetAccess {
  readonly etcd: EtcdAccess;
  readonly clusters: ReadonlyMap<string, ClusterAccess>;
}

/** Tells how the authorities differ from the usual while others take over. */
export interface RotatingAuthorities {
  /** The certificates that are trusted as well. */
  readonly etcd?: string | undefined;
  readonly cluster?: ClusterPki['beside'];
  /** The authority of the certificate that the API server serves. */
  readonly server?: AuthorityName | undefined;
}

/** Ensures that every certificate and kubeconfig of the fleet exists, is current and has the right port. */
export async function ensureAccess(
  state: FleetState,
  layout: Layout,
  now: Date,
  rotating: RotatingAuthorities = {},
): Promise<FleetAccess> {
  const life = lifeOf(state.clusters[0]?.plane, now);
  const etcd = await ensureEtcdPki(layout.etcd.pkiFolder, life, rotating.etcd);
  const clusters = new Map<string, ClusterAccess>();
  for (const cluster of state.clusters) {
    const pki = { ...clusterPkiOf(cluster, layout, now), beside: rotating.cluster, server: rotating.server };
    clusters.set(cluster.name, await ensureClusterAccess(cluster, layout, pki));
  }
  const entries = state.clusters.flatMap((cluster) => {
    const access = clusters.get(cluster.name);
    return access ? [createAdminEntry(cluster, access)] : [];
  });
  await writeIfChanged(layout.kubeconfig, formatKubeconfig(entries), PRIVATE_MODE);
  return { etcd, clusters };
}

async function ensureClusterAccess(
  cluster: LocalClusterState,
  layout: Layout,
  pki: ClusterPki,
): Promise<ClusterAccess> {
  const paths = layout.cluster(cluster.name);
  const access = await ensureClusterPki(pki);
  const component = (name: string): string =>
    formatComponentKubeconfig({
      server: serverUrl(cluster),
      caFile: join(paths.pkiFolder, 'ca.crt'),
      certificateFile: join(paths.pkiFolder, `${name}.pem`),
    });
  await writeIfChanged(paths.kubeconfig, formatKubeconfig([createAdminEntry(cluster, access)]), PRIVATE_MODE);
  await writeIfChanged(paths.controllerManagerKubeconfig, component('controller-manager'), PRIVATE_MODE);
  await writeIfChanged(paths.schedulerKubeconfig, component('scheduler'), PRIVATE_MODE);
  if (cluster.plane) {
    await writeIfChanged(paths.controllersKubeconfig, component('controllers'), PRIVATE_MODE);
  }
  return access;
}

/** Returns what the certificates of the cluster are made for. */
function clusterPkiOf(cluster: LocalClusterState, layout: Layout, now: Date): ClusterPki {
  const { name, names, bindAddress, plane, exposure } = cluster;
  const { pkiFolder: folder } = layout.cluster(name);
  const outside = exposure ? [exposure.host] : [];
  return { folder, name, names: [...names, ...outside, ...listServerAddresses(bindAddress)], now, plane };
}

/** Lists every certificate of the fleet that a CA signs. */
export function leavesOf(
  state: FleetState,
  layout: Layout,
  now: Date,
  server?: AuthorityName,
): readonly Leaf[] {
  const etcd = etcdLeaves(layout.etcd.pkiFolder, lifeOf(state.clusters[0]?.plane, now));
  const ofClusters = state.clusters.flatMap((cluster) =>
    clusterLeaves({ ...clusterPkiOf(cluster, layout, now), server }),
  );
  return [...etcd, ...ofClusters];
}

function createAdminEntry(cluster: LocalClusterState, { caPem, admin }: ClusterAccess): KubeconfigEntry {
  return {
    name: cluster.name,
    server: serverUrl(cluster),
    caPem,
    user: ADMIN.user,
    client: admin,
  };
}

/** The kubeconfig of sync for that cluster. Sync need not be on this machine. */
export function createSyncKubeconfig(
  cluster: LocalClusterState,
  { caPem, sync }: Pick<ClusterAccess, 'caPem' | 'sync'>,
): string {
  const { user } = createPrincipal(PRINCIPAL_SYNC);
  const server = outsideUrl(cluster);
  return formatKubeconfig([{ name: cluster.name, server, caPem, user, client: sync }]);
}

/** Makes certificates of one cluster, which are not stored. */
export interface ClusterIssuer {
  readonly server: string;
  readonly caPem: string;
  issue(principal: Principal, now: Date): CertificatePair;
}

export async function openClusterIssuer(cluster: LocalClusterState, layout: Layout): Promise<ClusterIssuer> {
  const { pkiFolder } = layout.cluster(cluster.name);
  const authority = await readAuthority(pkiFolder);
  const caPem = await readTrusted(pkiFolder);
  if (!authority || caPem === undefined) {
    throw new LocalError('NotFound', `certificate authority of cluster ${cluster.name} not found`, {
      where: join(pkiFolder, 'ca.pem'),
      hint: 'start the cluster: kubenode local up',
    });
  }
  return {
    server: serverUrl(cluster),
    caPem,
    issue: (principal, now) => issueClientCertificate(authority, principal, now),
  };
}

/** A kubeconfig for that principal, with a new certificate that is not stored. */
export async function createUserKubeconfig(
  cluster: LocalClusterState,
  layout: Layout,
  principal: Principal,
  now: Date,
): Promise<string> {
  const issuer = await openClusterIssuer(cluster, layout);
  const { server, caPem } = issuer;
  const client = issuer.issue(principal, now);
  return formatKubeconfig([{ name: cluster.name, server, caPem, user: principal.user, client }]);
}
