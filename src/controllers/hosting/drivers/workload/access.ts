/** Finds the addresses of a control plane, and builds the kubeconfigs for them. Pure. */
import { PRINCIPAL_SYNC } from '../../../../api/names.ts';
import { listAt, textAt, valueAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { formatKubeconfig } from '../../../../local/pki/kubeconfig.ts';
import { ADMIN } from '../../../../local/pki/leaves.ts';
import { createPrincipal, type Principal } from '../../../../local/pki/principal.ts';
import { serverAuthority } from '../authorities/keys.ts';
import type { ApiServerAccess, PlaneAccess, PlaneExposure } from '../driver.ts';
import type { FoundPlane } from './hub.ts';
import { currentPod, podAddress, podsOfMember } from './members/pods.ts';
import { apiServersOf, etcdMembersOf, isWorkloadMember, planeNamespace } from './names.ts';
import { type KeyRequest, pairOf, trustedCertificates } from './pki/keys.ts';
import type { PlaneAddresses } from './plane.ts';
import { urlOf } from './ports.ts';
import { SERVER_NAME } from './probe.ts';
import type { WorkloadRecord } from './record.ts';

/** Undefined before all Services have an address. */
export function addressesOf({
  objects,
  record,
}: Pick<FoundPlane, 'objects' | 'record'>): PlaneAddresses | undefined {
  const members = etcdMembersOf(record);
  const etcd = members.flatMap((member) => clusterIp(objects.services.get(member)) ?? []);
  const apiServer = clusterIp(objects.services.get('kube-apiserver'));
  return etcd.length < members.length || apiServer === undefined ? undefined : { etcd, apiServer };
}

/** Returns the addresses of the Services of members that have one, by name. */
export function serviceAddresses({
  services,
}: Pick<FoundPlane['objects'], 'services'>): Readonly<Record<string, string>> {
  const found = [...services].flatMap(([name, service]) => {
    const address = isWorkloadMember(name) ? clusterIp(service) : undefined;
    return address === undefined ? [] : [[name, address] as const];
  });
  return Object.fromEntries(found);
}

function clusterIp(service: KubeObject | undefined): string | undefined {
  const address = textAt(service, 'spec', 'clusterIP');
  return address === undefined || address === '' || address === 'None' ? undefined : address;
}

/** Returns the URL for the members beside the API server. */
export function internalUrl({ apiServer }: PlaneAddresses, { port }: PlaneExposure): string {
  return urlOf(apiServer, port);
}

/** Returns the URL for sync and hosting. Undefined: the Service has no address outside yet. */
export function serverOf(
  { objects }: Pick<FoundPlane, 'objects'>,
  addresses: PlaneAddresses,
  exposure: PlaneExposure,
): string | undefined {
  const service = objects.services.get('kube-apiserver');
  if (exposure.type === 'ClusterIP') return urlOf(exposure.host ?? addresses.apiServer, exposure.port);
  const host = exposure.host ?? loadBalancerAddress(service);
  if (host === undefined) return undefined;
  if (exposure.type === 'LoadBalancer') return urlOf(host, exposure.port);
  const nodePort = valueAt(listAt(service, 'spec', 'ports')[0], 'nodePort');
  return typeof nodePort === 'number' ? urlOf(host, nodePort) : undefined;
}

function loadBalancerAddress(service: KubeObject | undefined): string | undefined {
  const [ingress] = listAt(service, 'status', 'loadBalancer', 'ingress');
  return textAt(ingress, 'hostname') ?? textAt(ingress, 'ip');
}

/** Returns what the certificates of the control plane are made for. */
export function keyRequest(
  found: Pick<FoundPlane, 'objects'>,
  record: WorkloadRecord,
  { addresses, now }: { readonly addresses: PlaneAddresses; readonly now: Date },
): KeyRequest {
  const { cluster, settings, placement } = record;
  const server = serverOf(found, addresses, placement.exposure);
  const outside = server === undefined ? [] : [new URL(server).hostname.replace(/^\[|\]$/g, '')];
  const namespace = planeNamespace(cluster);
  const inside = [`kube-apiserver.${namespace}`, `kube-apiserver.${namespace}.svc`];
  return {
    cluster,
    settings,
    apiServerNames: [...new Set([addresses.apiServer, ...inside, ...outside])],
    etcdNames: addresses.etcd,
    ...optional('server', record.rotation && serverAuthority(record.rotation)),
    now,
  };
}

/** Undefined before it is prepared, and while the API server has no address. */
export function accessOf(found: FoundPlane, now: Date): PlaneAccess | undefined {
  const addresses = addressesOf(found);
  const { record } = found;
  if (!addresses || !record) return undefined;
  const server = serverOf(found, addresses, record.placement.exposure);
  const request = keyRequest(found, record, { addresses, now });
  const kubeconfig = (name: string, { user }: Principal, place?: PodPlace): string | undefined => {
    const client = pairOf(found.keys, request, name);
    const caPem = trustedCertificates(found.keys, 'ca');
    if (!client || caPem === undefined || server === undefined) return undefined;
    return formatKubeconfig([{ name: record.cluster, server, ...place, caPem, user, client }]);
  };
  const admin = kubeconfig('admin', ADMIN);
  const sync = kubeconfig('sync', createPrincipal(PRINCIPAL_SYNC));
  return server === undefined || admin === undefined || sync === undefined
    ? undefined
    : {
        server,
        admin,
        sync,
        ...optional(
          'apiServers',
          eachServer(found, (place) => kubeconfig('admin', ADMIN, place)),
        ),
      };
}

/** The place of one API server among several, by the address of its pod. */
interface PodPlace {
  readonly server: string;
  readonly serverName: string;
}

/** One whose pod has no address has no kubeconfig: through the Service another API server would answer for it. */
function eachServer(
  { objects, record }: FoundPlane,
  kubeconfig: (place: PodPlace) => string | undefined,
): readonly ApiServerAccess[] | undefined {
  const members = apiServersOf(record);
  if (!record || members.length === 1) return undefined;
  return members.flatMap((member) => {
    const pod = currentPod(podsOfMember(objects, member));
    const address = pod && podAddress(pod);
    if (address === undefined) return [];
    const server = urlOf(address, record.placement.exposure.port);
    const admin = kubeconfig({ server, serverName: SERVER_NAME });
    return admin === undefined ? [] : [{ member, admin }];
  });
}
