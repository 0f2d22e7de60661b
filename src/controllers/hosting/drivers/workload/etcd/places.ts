/** Tells how the members of an etcd of pods are asked: each by the address of its pod, and by the others at the address of its Service. Pure. */
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { EtcdMember } from '../../driver.ts';
import type { EtcdPlaces } from '../../etcd/membership.ts';
import { addressesOf, keyRequest } from '../access.ts';
import type { FoundPlane } from '../hub.ts';
import { currentPod, isPodReady, podAddress, podsOfMember } from '../members/pods.ts';
import { etcdMembersOf } from '../names.ts';
import { etcdPeerUrlAt } from '../objects/commands.ts';
import { pairOf, trustedCertificates } from '../pki/keys.ts';
import { ETCD_PORT, urlOf } from '../ports.ts';
import { SERVER_NAME } from '../probe.ts';

/** Undefined before the Services have their addresses. */
export function podPlaces(found: FoundPlane, now: Date): EtcdPlaces | undefined {
  const { record } = found;
  const addresses = addressesOf(found);
  if (!record || !addresses) return undefined;
  const caPem = trustedCertificates(found.keys, 'etcd-ca');
  const client = pairOf(found.keys, keyRequest(found, record, { addresses, now }), 'etcd-client');
  const endpointOf = (member: EtcdMember): ProbeEndpoint | undefined => {
    const address = readyAddress(found, member);
    if (caPem === undefined || !client || address === undefined) return undefined;
    return { url: urlOf(address, ETCD_PORT), caPem, client, serverName: SERVER_NAME };
  };
  return {
    endpoints: etcdMembersOf(record).map(endpointOf),
    peerUrls: addresses.etcd.map(etcdPeerUrlAt),
  };
}

/** Hosting of another network does not wait for a pod that does not answer. */
function readyAddress({ objects }: FoundPlane, member: EtcdMember): string | undefined {
  const pod = currentPod(podsOfMember(objects, member));
  return pod && isPodReady(pod) ? podAddress(pod) : undefined;
}
