/**
 * Returns where peers probe the kubelet of a machine. The address is the one of its provider or of git: a kubelet, which may write any address
 * to its own Node, must not have others connect to it.
 */
import { BlockList, isIP } from 'node:net';
import type { Machine } from '../../../api/generated/types.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ProbeTarget } from './plan.ts';

const KUBELET_PORT = 10_250;
const MAX_PORT = 65_535;

/**
 * Addresses that are another host for each peer, or none: what answers there proves nothing about the machine. Those of IPv4 count for addresses of
 * IPv6 that contain one, too.
 */
const LOCAL = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  LOCAL.addSubnet(network, prefix, 'ipv6');
}

/** Returns undefined when no address of the machine is known that its peers can connect to. */
export function kubeletTarget(machine: Machine, node: KubeObject | undefined): ProbeTarget | undefined {
  const address = addressesOf(machine).find(isOfOneHost);
  return address === undefined ? undefined : { address, port: kubeletPort(node) };
}

function addressesOf({ spec, status }: Machine): readonly string[] {
  const addresses = status?.infra?.addresses ?? [];
  const internal = addresses.flatMap(({ type, address = '' }) => (type === 'InternalIP' ? [address] : []));
  return [...internal, ...(spec.import ? [spec.import.address] : [])];
}

/** Names are refused: what a name resolves to is decided by others, and differs from host to host. */
function isOfOneHost(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  return !LOCAL.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** A kubelet may choose another port; a wrong one is a port of the same host. */
function kubeletPort(node: KubeObject | undefined): number {
  const port = valueAt(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port');
  const isPort = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= MAX_PORT;
  return isPort ? port : KUBELET_PORT;
}
