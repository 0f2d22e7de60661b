/** Where agents and kubelets have their Leases. */
import { NAMESPACE_AGENTS } from '../../api/names.ts';
import { NAMESPACE_OF_NODE_LEASES } from '../live/fact-views.ts';
import type { LeaseView } from './format.ts';

export const LEASE_NAMESPACES: Readonly<Record<LeaseView, string>> = {
  agentLeases: NAMESPACE_AGENTS,
  nodeLeases: NAMESPACE_OF_NODE_LEASES,
};
