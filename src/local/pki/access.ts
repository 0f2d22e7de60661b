/** Ways into the clusters of a fleet: certificates and the kubeconfigs made of them. */
import { join } from 'node:path';
import { PRINCIPAL_SYNC } from '../../api/names.ts';
import { PRIVATE_MODE } from '../../os/files.ts';
import { LocalError } from '../errors.ts';
import type { Layout } from '../layout.ts';
import { answeringAddresses } from '../processes/addresses.ts';
import { serverUrl } from '../processes/specs.ts';
import type { ClusterState, FleetState } from '../state.ts';
import {
  ADMIN,
  type ClusterAccess,
  clientCertificate,
  type EtcdAccess,
  ensureClusterPki,
  ensureEtcdPki,
  readAuthority,
  writeChanged,
} from './authority.ts';
import { type Access, componentKubeconfig, kubeconfigOf } from './kubeconfig.ts';
import { type Principal, principalNamed } from './principal.ts';

export interface FleetAccess {
  readonly etcd: EtcdAccess;
  readonly clusters: ReadonlyMap<string, ClusterAccess>;
}

/** Every certificate and kubeconfig of the fleet is there, current, and names the right port. */
export async function ensureAccess(state: FleetState, layout: Layout, now: Date): Promise<FleetAccess> {
  const etcd = await ensureEtcdPki(layout.etcd.pkiFolder, now);
  const clusters = new Map<string, ClusterAccess>();
  for (const cluster of state.clusters) {
    clusters.set(cluster.name, await ensureClusterAccess(cluster, layout, now));
  }
  const accesses = state.clusters.flatMap((cluster) => {
    const access = clusters.get(cluster.name);
    return access ? [adminAccess(cluster, access)] : [];
  });
  await writeChanged(layout.kubeconfig, kubeconfigOf(accesses), PRIVATE_MODE);
  return { etcd, clusters };
}

async function ensureClusterAccess(cluster: ClusterState, layout: Layout, now: Date): Promise<ClusterAccess> {
  const paths = layout.cluster(cluster.name);
  const access = await ensureClusterPki({
    folder: paths.pkiFolder,
    name: cluster.name,
    names: [...cluster.names, ...answeringAddresses(cluster.bindAddress)],
    now,
  });
  const component = (name: string): string =>
    componentKubeconfig({
      server: serverUrl(cluster),
      caFile: join(paths.pkiFolder, 'ca.crt'),
      certificateFile: join(paths.pkiFolder, `${name}.pem`),
    });
  await writeChanged(paths.kubeconfig, kubeconfigOf([adminAccess(cluster, access)]), PRIVATE_MODE);
  await writeChanged(paths.controllerManagerKubeconfig, component('controller-manager'), PRIVATE_MODE);
  await writeChanged(paths.schedulerKubeconfig, component('scheduler'), PRIVATE_MODE);
  return access;
}

function adminAccess(cluster: ClusterState, { authority, admin }: ClusterAccess): Access {
  return {
    name: cluster.name,
    server: serverUrl(cluster),
    caPem: authority.certPem,
    user: ADMIN.user,
    client: admin,
  };
}

/** What sync reaches that cluster with. */
export function syncKubeconfig(cluster: ClusterState, { authority, sync }: ClusterAccess): string {
  const { user } = principalNamed(PRINCIPAL_SYNC);
  const server = serverUrl(cluster);
  return kubeconfigOf([{ name: cluster.name, server, caPem: authority.certPem, user, client: sync }]);
}

/** The text of a kubeconfig for that principal, with a certificate that is made now and kept nowhere. */
export async function kubeconfigFor(
  cluster: ClusterState,
  layout: Layout,
  principal: Principal,
  now: Date,
): Promise<string> {
  const { pkiFolder } = layout.cluster(cluster.name);
  const authority = await readAuthority(pkiFolder);
  if (!authority) {
    throw new LocalError('NotFound', `cluster ${cluster.name} has no certificate authority yet`, {
      where: join(pkiFolder, 'ca.pem'),
      hint: 'kubenode local up',
    });
  }
  const client = clientCertificate(authority, principal, now);
  const { user } = principal;
  const access = { name: cluster.name, server: serverUrl(cluster), caPem: authority.certPem, user, client };
  return kubeconfigOf([access]);
}
