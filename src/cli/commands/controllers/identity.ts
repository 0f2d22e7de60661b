/** The controllers of the identity of agents, and the views that they need. */
import { MACHINE_COMPONENTS } from '../../../api/generated/resources.ts';
import { NAMESPACE_AGENTS } from '../../../api/names.ts';
import { createApproverController } from '../../../controllers/approver/controller.ts';
import { createBootstrapTokenController } from '../../../controllers/bootstraptoken/controller.ts';
import { CERTIFICATE_REQUESTS } from '../../../kube/auth/certificate-requests.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import { createView } from '../../../kube/cache/view.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Controller } from '../../../kube/controller/controller.ts';
import type { Views } from '../../../kube/controller/views.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Metrics } from '../../../kube/process/metrics.ts';
import type { WatchMetrics } from '../../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../../os/clock.ts';

export interface IdentityControllerOptions {
  /** As kubenode-approver. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly leads: () => boolean;
  readonly metrics: Metrics;
  readonly watch: WatchMetrics;
}

/** Machines are in the views of the Defender. */
export function createIdentity(options: IdentityControllerOptions): {
  readonly controllers: readonly Controller[];
  readonly views: Views;
} {
  const { client, clock, random, log, leads, metrics, watch } = options;
  const shared = { client, clock, random, log, metrics: watch };
  const decisions = metrics.counter({
    name: 'certificate_requests_total',
    help: 'Certificate requests of agents and their kubelets that were approved or denied, by reason.',
    labels: ['result', 'reason'],
  });
  const views = [
    createView({ ...shared, resource: CERTIFICATE_REQUESTS }),
    createView({ ...shared, resource: LEASES, namespace: NAMESPACE_AGENTS }),
    createView({
      ...shared,
      resource: MACHINE_COMPONENTS,
      // Only the identity of a component is read.
      transform: createTransform(['spec.files', 'spec.units', 'spec.artifacts', 'spec.probes', 'status']),
    }),
  ];
  return {
    controllers: [createApproverController({ client, leads, decisions }), createBootstrapTokenController()],
    views: Object.fromEntries(views.map((view) => [view.resource.kind, view])),
  };
}
