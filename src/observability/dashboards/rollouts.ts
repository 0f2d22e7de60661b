/** The dashboard of rollouts of component sets: how far they are, why they wait, and whether they break something. */
import { COMPONENT_DIFFERING_SECONDS, COMPONENT_MACHINES } from '../metrics/machine.ts';
import {
  ROLLOUT_BATCH,
  ROLLOUT_BLOCKED,
  ROLLOUT_GATES,
  ROLLOUT_MACHINES,
  ROLLOUT_ROLLBACKS,
  ROLLOUT_SETTLE,
  STALLED_OBJECTS,
} from '../metrics/rollout.ts';
import { badFrom, bars, type Dashboard, now, table, trend } from './panel.ts';
import { events, highest, quantile, RESOLUTION, series, total, zeroWhile } from './promql.ts';
import { UIDS } from './uids.ts';

type State = 'selected' | 'updated' | 'inProgress' | 'failed' | 'blocked';

function machines(state: State): string {
  return zeroWhile('machines are counted', total(ROLLOUT_MACHINES, { where: { state } }));
}

function machinesOfSets(state: State): string {
  return total(ROLLOUT_MACHINES, { where: { state }, by: ['set'] });
}

export const ROLLOUTS_DASHBOARD: Dashboard = {
  uid: UIDS.rollouts,
  title: 'kubenode / Rollouts',
  description:
    'Component sets of the chosen clusters: how far each rollout is, why it waits, and what failed.',
  hasClusters: true,
  rows: [
    {
      question: 'Does a rollout need a person?',
      panels: [
        now(
          {
            title: 'Sets stalled',
            description: 'Each waits for a person. docs/runbooks/rollout-stopped.md has the reasons.',
            thresholds: badFrom(1),
          },
          zeroWhile(
            'machines are counted',
            total(STALLED_OBJECTS, { where: { kind: 'MachineComponentSet' } }),
          ),
        ),
        now(
          {
            title: 'Machines failed',
            description: 'The revision failed there, and counts against the failure budget.',
            thresholds: badFrom(1, 5),
          },
          machines('failed'),
        ),
        now(
          {
            title: 'Rolled back in 24 h',
            description: 'Revisions that a set took back.',
            thresholds: badFrom(1),
          },
          zeroWhile('machines are counted', events(ROLLOUT_ROLLBACKS, { window: '24h' })),
        ),
        now(
          { title: 'Machines in progress', description: 'Machines that get a revision now.' },
          machines('inProgress'),
        ),
        now(
          {
            title: 'Machines that wait',
            description: 'Machines of open batches that may not start yet: see why below.',
            thresholds: badFrom(1, 100),
          },
          machines('blocked'),
        ),
        now(
          {
            title: 'Oldest difference',
            description: 'For how long a machine has not run what is desired.',
            unit: 's',
            thresholds: badFrom(86_400, 604_800),
          },
          zeroWhile('machines are counted', highest(COMPONENT_DIFFERING_SECONDS)),
        ),
      ],
    },
    {
      question: 'How far is each rollout?',
      panels: [
        bars(
          {
            title: 'Machines at the revision',
            description: 'Of those that the set selects.',
            unit: 'percentunit',
          },
          { expr: `${machinesOfSets('updated')} / (${machinesOfSets('selected')} > 0)`, legend: '{{set}}' },
        ),
        trend(
          { title: 'Machines in progress', description: 'By component set.' },
          { expr: machinesOfSets('inProgress'), legend: '{{set}}' },
        ),
        trend(
          { title: 'Open batch', description: 'The number of the batch, by component set.' },
          { expr: highest(ROLLOUT_BATCH, { by: ['cluster', 'set'] }), legend: '{{cluster}} {{set}}' },
        ),
      ],
    },
    {
      question: 'Why does it wait?',
      panels: [
        trend(
          { title: 'Machines that wait', description: 'On average over the interval, by reason.' },
          {
            expr: `sum by (set, reason) (rate(${series(ROLLOUT_BLOCKED)}[${RESOLUTION}]))`,
            legend: '{{set}} {{reason}}',
          },
        ),
        table(
          {
            title: 'Stalled objects',
            description: 'By kind and reason, in each cluster. kubenode why explains one.',
          },
          total(STALLED_OBJECTS, { by: ['cluster', 'kind', 'reason'] }),
        ),
        trend(
          {
            title: 'Gates of batches',
            description: 'Passed, failed, or without a result. A gate without a result holds the batch.',
          },
          {
            expr: events(ROLLOUT_GATES, { by: ['set', 'result'], window: RESOLUTION }),
            legend: '{{set}} {{result}}',
          },
        ),
      ],
    },
    {
      question: 'Does it break machines?',
      panels: [
        trend(
          { title: 'Machines failed', description: 'By component set.', thresholds: badFrom(1) },
          { expr: machinesOfSets('failed'), legend: '{{set}}' },
        ),
        trend(
          {
            title: 'Time for one machine',
            description: 'From the grant until the machine has the revision: of the hour before each point.',
            unit: 's',
          },
          { expr: quantile(0.5, ROLLOUT_SETTLE, { by: ['set'], window: '1h' }), legend: '{{set}} half' },
          { expr: quantile(0.95, ROLLOUT_SETTLE, { by: ['set'], window: '1h' }), legend: '{{set}} p95' },
        ),
        trend(
          {
            title: 'Machines that differ',
            description: 'By component: what shall run there is not what runs.',
          },
          {
            expr: total(COMPONENT_MACHINES, { where: { state: 'Differing' }, by: ['component'] }),
            legend: '{{component}}',
          },
        ),
      ],
    },
  ],
};
