/** Where agents and kubelets have their Leases. */
import { NAMESPACE_AGENTS, NAMESPACE_OF_NODE_LEASES } from '../../api/names.ts';
import type { LeaseView } from './format.ts';

export const LEASE_NAMESPACES: Readonly<Record<LeaseView, string>> = {
  agentLeases: NAMESPACE_AGENTS,
  nodeLeases: NAMESPACE_OF_NODE_LEASES,
};
