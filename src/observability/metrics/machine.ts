/** The metrics of machines, their agents and their components. Machines are counted; one metric alone names them, to join others with it. */
import { PROVIDERS } from '../../api/enums.ts';
import { defineCounter, defineGauge } from '../../kube/process/metrics.ts';
import { HOOK_RESULTS } from '../../kube/webhook/request.ts';
import { COMPONENTS } from './limits.ts';

const SERVED = { processes: ['controllers'], writtenIn: 'src/observability/fleet/register.ts' } as const;

/** Each machine has exactly one of these. */
export const MACHINE_STATES = ['Ready', 'NotReady', 'Held', 'Joining', 'Deleting'] as const;

export const MACHINES_BY_STATE = defineGauge({
  ...SERVED,
  name: 'machines',
  help: 'Machines by state. NotReady is what the SLO counts: Held is not Ready while a person holds it, Joining was never in service.',
  labels: { state: MACHINE_STATES },
});

export const MACHINES_CHANGING = defineGauge({
  ...SERVED,
  name: 'machines_changing',
  help: 'Machines that are created, imported, join, or are brought to what is desired: those in the phases Creating, Importing, Joining and Updating.',
});

/** Clusters have up to 10,000 machines. Nothing of a series changes while a machine flaps. */
const NAMED_MACHINES = 10_000;

export const MACHINE_INFO = defineGauge({
  ...SERVED,
  option: '--machine-info',
  name: 'machine_info',
  help: 'Always 1: each machine that was in service, by the name of its Node, with its pool and the version of its kubelet, for queries that join metrics of Nodes with it.',
  labels: {
    node: { of: 'Nodes', most: NAMED_MACHINES },
    pool: { of: 'pools', most: 1000 },
    version: { of: 'versions of the kubelet', most: 100 },
  },
  maxSeries: NAMED_MACHINES,
});

export const AGENT_STATES = ['Reporting', 'Silent', 'Joining'] as const;

export const AGENTS_BY_STATE = defineGauge({
  ...SERVED,
  name: 'agents',
  help: 'Machines by what their agent does: it renews its Lease, it has stopped doing so, or it never did.',
  labels: { state: AGENT_STATES },
});

export const AGENT_CERTIFICATE_END = defineGauge({
  ...SERVED,
  name: 'agents_certificate_end_seconds',
  help: 'When the first certificate of an agent that reports ends, in seconds since 1970.',
});

export const COVERAGE_STATES = ['Desired', 'Installed', 'Consistent', 'Failed', 'Differing'] as const;

export const COMPONENT_MACHINES = defineGauge({
  ...SERVED,
  name: 'component_machines',
  help: 'Machines that shall have a component, have it, run exactly the desired content, on which it failed, or that differ from what is desired.',
  labels: { component: COMPONENTS, state: COVERAGE_STATES },
  maxSeries: 1000,
});

export const COMPONENT_DIFFERING_SECONDS = defineGauge({
  ...SERVED,
  name: 'component_differing_seconds',
  help: 'For how long the machine that has differed longest has not run what is desired.',
  labels: { component: COMPONENTS },
});

export const INCOMPLETE_CLEANUPS = defineCounter({
  processes: ['controllers'],
  writtenIn: 'src/controllers/machine-group.ts',
  name: 'incomplete_host_cleanups_total',
  help: 'Imported hosts whose Machine was deleted and that may not be as they were before, by reason.',
  labels: { reason: { of: 'reasons', most: 10 } },
});

export const FOREIGN_MACHINES = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/controllers/clusterapi-group.ts',
  name: 'cluster_api_machines',
  help: 'Machines of Cluster API by whether a Machine of kubenode follows them. Waiting: without Node or provider ID, or with the Node in another cluster. Refused: a person has to solve a contradiction.',
  labels: { state: ['Followed', 'Waiting', 'Refused'] },
});

export const EXTERNAL_NODES = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/controllers/external-group.ts',
  name: 'external_nodes',
  help: 'NodeClaims of Karpenter, and Nodes of node groups, by whether a Machine of kubenode follows them. Waiting: without Node or provider ID. Refused: a person has to solve a contradiction.',
  labels: { kind: ['NodeClaim', 'Node'], state: ['Followed', 'Waiting', 'Refused'] },
});

export const ORPHAN_INSTANCES = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/controllers/machine-group.ts',
  name: 'orphan_instances',
  help: 'Instances of providers whose Machine does not exist, by provider and by why they are left.',
  labels: { provider: PROVIDERS, reason: { of: 'reasons', most: 20 } },
});

export const CERTIFICATE_REQUEST_DECISIONS = defineCounter({
  processes: ['controllers'],
  writtenIn: 'src/controllers/identity-group.ts',
  name: 'certificate_requests_total',
  help: 'Certificate requests of agents and their kubelets that were approved or denied, by reason.',
  labels: { result: { of: 'Approved and Denied', most: 2 }, reason: { of: 'reasons', most: 30 } },
});

export const MAINTENANCE_WEBHOOK_REQUESTS = defineCounter({
  processes: ['controllers'],
  option: '--maintenance-port',
  writtenIn: 'src/cli/commands/controllers/maintenance.ts',
  name: 'maintenance_webhook_requests_total',
  help: 'Requests at the port of maintenance events, by result. Refused: not signed with the secret of the webhook.',
  labels: { result: HOOK_RESULTS },
});

export const MACHINE_METRICS = [
  MACHINES_BY_STATE,
  MACHINES_CHANGING,
  MACHINE_INFO,
  AGENTS_BY_STATE,
  AGENT_CERTIFICATE_END,
  COMPONENT_MACHINES,
  COMPONENT_DIFFERING_SECONDS,
  INCOMPLETE_CLEANUPS,
  FOREIGN_MACHINES,
  EXTERNAL_NODES,
  ORPHAN_INSTANCES,
  CERTIFICATE_REQUEST_DECISIONS,
  MAINTENANCE_WEBHOOK_REQUESTS,
];
