/** Describes what the pods of a program may connect to, and what may connect to them. Pure. */
import { LABEL_SCRAPE } from '../api/names.ts';
import { type DeployedProgram, HEALTH_PORT } from './programs.ts';

const DNS = [
  { port: 53, protocol: 'UDP' },
  { port: 53, protocol: 'TCP' },
];

/**
 * Returns the spec of the NetworkPolicy. Egress is limited by port only: API servers and git servers are not pods, and a NetworkPolicy
 * knows no names. The probes of the kubelet come from the node of the pod, which no NetworkPolicy blocks.
 */
export function networkPolicySpec(
  { egressPorts, usesDns, webhookPort, extensionPort, pagePort }: DeployedProgram,
  matchLabels: Readonly<Record<string, string>>,
  morePorts: readonly number[],
): Readonly<Record<string, unknown>> {
  const ports = [...new Set([...egressPorts, ...morePorts])].toSorted((a, b) => a - b);
  const servers = ports.map((port) => ({ port, protocol: 'TCP' }));
  return {
    podSelector: { matchLabels },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      // From everywhere: an Ingress or a Gateway has no fixed address, and people sign in.
      pagePort === undefined ? fromScrapers : { ports: [{ port: pagePort, protocol: 'TCP' }] },
      // From everywhere: an Ingress or a load balancer has no fixed address, and each request must be signed.
      ...(webhookPort === undefined ? [] : [{ ports: [{ port: webhookPort, protocol: 'TCP' }] }]),
      ...(extensionPort === undefined ? [] : [fromClusterApi(extensionPort)]),
    ],
    egress: [{ ports: [...servers, ...(usesDns ? DNS : [])] }],
  };
}

const fromScrapers = {
  from: [{ namespaceSelector: { matchLabels: { [LABEL_SCRAPE]: 'true' } } }],
  ports: [{ port: HEALTH_PORT, protocol: 'TCP' }],
};

/** Its manifests label its namespace so. */
const CLUSTER_API = { 'cluster.x-k8s.io/provider': 'cluster-api' };

function fromClusterApi(port: number): Readonly<Record<string, unknown>> {
  return {
    from: [{ namespaceSelector: { matchLabels: CLUSTER_API } }],
    ports: [{ port, protocol: 'TCP' }],
  };
}
