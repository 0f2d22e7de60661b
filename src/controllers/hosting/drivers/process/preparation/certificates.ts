/** Reports the certificates in the files of a control plane, by the lifetime that its spec wants. */
import { leavesOf } from '../../../../../local/pki/access.ts';
import { readAuthority } from '../../../../../local/pki/authority.ts';
import { readExpiry } from '../../../../../local/pki/inspect.ts';
import { type LeafReport, reportLeaf } from '../../../../../local/pki/report.ts';
import type { FleetState } from '../../../../../local/state.ts';
import { serverAuthority } from '../../authorities/keys.ts';
import {
  API_SERVERS,
  ETCD_MEMBERS,
  type PlaneCertificate,
  type PlaneMember,
  type PlaneSpec,
} from '../../driver.ts';
import type { PlaneFolder } from '../folder.ts';
import { readRotationInWork } from '../rotation/record.ts';

const SERVED_BY: Readonly<Record<string, readonly PlaneMember[]>> = {
  etcd: ETCD_MEMBERS,
  apiserver: [...API_SERVERS, 'kube-controller-manager', 'kube-scheduler'],
};

export async function reportCertificates(
  { state, layout, claim }: PlaneFolder,
  plane: PlaneSpec,
  now: Date,
): Promise<readonly PlaneCertificate[]> {
  const [cluster] = state?.clusters ?? [];
  if (!state || !cluster || claim !== 'Own') return [];
  const { pkiFolder } = layout.cluster(cluster.name);
  const rotation = await readRotationInWork(layout.root);
  const server = rotation && serverAuthority(rotation);
  const all = leavesOf(withPki(state, plane), layout, now, server);
  const leaves = await Promise.all(all.map(reportLeaf));
  return [
    ...leaves.map(certificateOf),
    ...(await authorityOf('etcd-ca', layout.etcd.pkiFolder, 'ca')),
    ...(await authorityOf('ca', pkiFolder, 'ca')),
    ...(await authorityOf('front-proxy-ca', pkiFolder, 'front-proxy-ca')),
  ];
}

/**
 * Returns the state with the lifetime and the name of certificates that the spec wants: they take effect with a renewal, and need no new control
 * plane. Servers read a certificate again while they run, so that it has the name before clients use that.
 */
export function withPki(state: FleetState, { settings, outside }: PlaneSpec): FleetState {
  const { leafLifetimeSeconds, renewAtPercent } = settings;
  const clusters = state.clusters.map((cluster) => ({
    ...cluster,
    names: outside ? [outside.host] : [],
    ...(cluster.plane ? { plane: { ...cluster.plane, leafLifetimeSeconds, renewAtPercent } } : {}),
  }));
  return { ...state, clusters };
}

function certificateOf({ name, due, file }: LeafReport): PlaneCertificate {
  const { issuedAt, notAfter, renewAt } = file ?? {};
  return { name, due, issuedAt, notAfter, renewAt, servedBy: SERVED_BY[name] ?? [] };
}

async function authorityOf(
  name: string,
  ...place: Parameters<typeof readAuthority>
): Promise<readonly PlaneCertificate[]> {
  const authority = await readAuthority(...place);
  return authority ? [{ name, notAfter: readExpiry(authority.certPem) }] : [];
}
