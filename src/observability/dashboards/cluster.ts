/** The dashboard of the clusters that a person chose: machines, components, objectives, and the controllers themselves. */
import { CONTROLLERS_LEASE } from '../../api/names.ts';
import {
  API_REQUESTS,
  LEASE_EPOCH,
  LEASE_HELD,
  LOOP_DELAY,
  QUEUE_WAIT,
  RECONCILE,
  WATCH_RESTARTS,
} from '../../kube/process/metrics-runtime.ts';
import {
  CERTIFICATE_REQUEST_DECISIONS,
  COMPONENT_MACHINES,
  MACHINES_BY_STATE,
  ORPHAN_INSTANCES,
} from '../metrics/machine.ts';
import { SLOS } from '../slos/slos.ts';
import { burnRatePanel, shareOfObjective } from './objectives.ts';
import { badFrom, type Dashboard, goodFrom, now, table, trend } from './panel.ts';
import { events, RESOLUTION, seriesIn, total } from './promql.ts';
import { UIDS } from './uids.ts';

const inControllers = { window: RESOLUTION };
const LEASE = `${CONTROLLERS_LEASE.namespace}/${CONTROLLERS_LEASE.name}`;

function machinesIn(state: 'Ready' | 'NotReady' | 'Held' | 'Joining' | 'Deleting'): string {
  return total(MACHINES_BY_STATE, { where: { state } });
}

export const CLUSTER_DASHBOARD: Dashboard = {
  uid: UIDS.cluster,
  title: 'kubenode / Cluster',
  description: 'The machines and components of the chosen clusters, and whether their controllers work.',
  hasClusters: true,
  rows: [
    {
      question: 'Is the cluster healthy?',
      panels: [
        now(
          {
            title: 'Ready, of those in service',
            description: 'The objective machines-ready.',
            unit: 'percentunit',
            thresholds: shareOfObjective('machines-ready'),
          },
          `${machinesIn('Ready')} / ${total(MACHINES_BY_STATE, { where: { state: ['Ready', 'NotReady'] } })}`,
        ),
        now({ title: 'Ready', description: 'Machines that are in service.' }, machinesIn('Ready')),
        now(
          {
            title: 'Not Ready',
            description: 'Machines that were in service. See what their rules do about it.',
            thresholds: badFrom(1, 10),
            seeUid: UIDS.repairs,
          },
          machinesIn('NotReady'),
        ),
        now(
          {
            title: 'Held by a person',
            description: 'A hold is ended by kubenode machine release.',
            thresholds: badFrom(1, 10),
          },
          machinesIn('Held'),
        ),
        now(
          { title: 'Joining', description: 'Created or imported, and never in service yet.' },
          machinesIn('Joining'),
        ),
        now(
          {
            title: 'Controllers that lead',
            description:
              'Processes with the Lease, of the chosen cluster with the fewest. At 0 nothing is repaired or updated there.',
            thresholds: goodFrom(1),
          },
          `min(sum by (cluster) (${seriesIn('controllers', LEASE_HELD, { where: { lease: LEASE } })})) or vector(0)`,
        ),
      ],
    },
    {
      question: 'What happens to the machines?',
      panels: [
        trend(
          { title: 'Machines by state', description: 'Each machine has exactly one state.' },
          { expr: total(MACHINES_BY_STATE, { by: ['state'] }), legend: '{{state}}' },
        ),
        trend(
          {
            title: 'Certificate requests',
            description:
              'Of agents and their kubelets, approved or denied. Many that are denied: somebody tries, or clocks differ.',
          },
          {
            expr: events(CERTIFICATE_REQUEST_DECISIONS, { by: ['result', 'reason'], window: RESOLUTION }),
            legend: '{{result}} {{reason}}',
          },
        ),
        table(
          {
            title: 'Instances without a Machine',
            description: 'They may cost money. The reason tells why each is left.',
          },
          total(ORPHAN_INSTANCES, { by: ['cluster', 'provider', 'reason'] }),
        ),
      ],
    },
    {
      question: 'Do the components run as declared?',
      panels: [
        trend(
          {
            title: 'Machines that run what is declared',
            description: 'By component, of those that shall have it.',
            unit: 'percentunit',
            thresholds: goodFrom(1, 0.9),
          },
          {
            expr: `${total(COMPONENT_MACHINES, { where: { state: 'Consistent' }, by: ['component'] })} / ${total(COMPONENT_MACHINES, { where: { state: 'Desired' }, by: ['component'] })}`,
            legend: '{{component}}',
          },
        ),
        trend(
          {
            title: 'Machines on which a component failed',
            description: 'A failed version is rolled back by the agent, and is not tried again.',
            thresholds: badFrom(1),
            seeUid: UIDS.rollouts,
          },
          {
            expr: total(COMPONENT_MACHINES, { where: { state: 'Failed' }, by: ['component'] }),
            legend: '{{component}}',
          },
        ),
        burnRatePanel(SLOS.filter(({ scope }) => scope === 'cluster').map(({ name }) => name)),
      ],
    },
    {
      question: 'Do the controllers work?',
      panels: [
        trend(
          {
            title: 'Reconciles that failed',
            description: 'By controller. The log of the controllers has each error.',
            thresholds: badFrom(1),
          },
          {
            expr: `sum by (controller) (${seriesIn('controllers', RECONCILE, { ...inControllers, where: { outcome: ['failed', 'timeout'] }, suffix: '_count' })})`,
            legend: '{{controller}}',
          },
        ),
        trend(
          {
            title: 'Wait for a reconcile, p99',
            description:
              'From when a key was due until it was taken. Above a minute the controllers do not keep up.',
            unit: 's',
            thresholds: badFrom(10, 60),
          },
          {
            expr: `histogram_quantile(0.99, sum by (le, queue) (${seriesIn('controllers', QUEUE_WAIT, { ...inControllers, suffix: '_bucket' })}))`,
            legend: '{{queue}}',
          },
        ),
        trend(
          {
            title: 'Delay of the event loop, p99',
            description: 'Above a second Leases are in danger: give the process more CPU.',
            unit: 's',
            thresholds: badFrom(0.2, 1),
          },
          {
            expr: `max by (cluster, instance) (${seriesIn('controllers', LOOP_DELAY, { where: { quantile: 'p99' } })})`,
            legend: '{{cluster}} {{instance}}',
          },
        ),
      ],
    },
    {
      question: 'Do the controllers reach the API server?',
      panels: [
        trend(
          {
            title: 'Requests to the API server',
            description: 'By status code, or the code of the error where there was no answer.',
          },
          {
            expr: `sum by (code) (${seriesIn('controllers', API_REQUESTS, inControllers)})`,
            legend: '{{code}}',
          },
        ),
        trend(
          {
            title: 'Watches that were restarted',
            description: 'By reason. An API server that restarts ends all of them once.',
          },
          {
            expr: `sum by (because) (${seriesIn('controllers', WATCH_RESTARTS, inControllers)})`,
            legend: '{{because}}',
          },
        ),
        trend(
          {
            title: 'Holders of the Lease so far',
            description:
              'An upgrade changes the holder once or twice. More than three times within an hour fire an alert.',
          },
          {
            expr: `max by (cluster, lease) (${seriesIn('controllers', LEASE_EPOCH)})`,
            legend: '{{cluster}} {{lease}}',
          },
        ),
      ],
    },
  ],
};
