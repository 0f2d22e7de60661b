/** The controllers of the identity of agents, and the views that they need. */
import { CERTIFICATE_REQUEST_INDEXERS } from '../api/machine/certificate-requests.ts';
import { NAMESPACE_AGENTS, PRINCIPAL_APPROVER } from '../api/names.ts';
import { CERTIFICATE_REQUESTS } from '../kube/auth/certificate-requests.ts';
import { createView } from '../kube/cache/view.ts';
import { LEASES } from '../kube/leader/record.ts';
import { CERTIFICATE_REQUEST_DECISIONS } from '../observability/metrics/machine.ts';
import { createApproverController } from './approver/controller.ts';
import { createBootstrapTokenController } from './bootstraptoken/controller.ts';
import type { ControllerGroup, GroupParts } from './group.ts';

/** Machines are in the views of the Defender, and their components in that of rollouts. */
export async function createIdentityControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, clock, random, log, leads, metrics, watch } = parts;
  const client = await connectAs(PRINCIPAL_APPROVER);
  const shared = { client, clock, random, log, metrics: watch };
  const decisions = metrics.counter(CERTIFICATE_REQUEST_DECISIONS);
  const views = [
    createView({ ...shared, resource: CERTIFICATE_REQUESTS, indexers: CERTIFICATE_REQUEST_INDEXERS }),
    createView({ ...shared, resource: LEASES, namespace: NAMESPACE_AGENTS }),
  ];
  return {
    controllers: [createApproverController({ client, leads, decisions }), createBootstrapTokenController()],
    views: Object.fromEntries(views.map((view) => [view.resource.kind, view])),
  };
}
