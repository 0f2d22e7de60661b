/** The dashboard of the fleet: whether it is healthy, and where to look if it is not. */

import { DEFENDER_BREAKERS, DEFENDER_GRANTS } from '../metrics/defender.ts';
import {
  AGENTS_BY_STATE,
  COMPONENT_DIFFERING_SECONDS,
  COMPONENT_MACHINES,
  MACHINES_BY_STATE,
} from '../metrics/machine.ts';
import { BUILD_INFO } from '../metrics/process.ts';
import { REMEDY_WAITING } from '../metrics/repair.ts';
import { ROLLOUT_MACHINES, STALLED_OBJECTS } from '../metrics/rollout.ts';
import { SYNC_CLUSTER_REACHABLE, SYNC_RELEASE_STOPPED } from '../metrics/sync.ts';
import { RULE_GROUPS } from '../prometheus/groups.ts';
import { shareOfObjective } from './objectives.ts';
import { badFrom, type Dashboard, now, table, trend } from './panel.ts';
import { highest, lowest, series, total, zeroWhile } from './promql.ts';
import { UIDS } from './uids.ts';

const ALERTS = Object.values(RULE_GROUPS).flatMap((groups) =>
  groups.flatMap(({ alerts }) => alerts.map(({ alert }) => alert)),
);
const FIRING = `ALERTS{alertstate="firing",alertname=~"${ALERTS.toSorted().join('|')}"}`;
const READY_SHARE = `${total(MACHINES_BY_STATE, { where: { state: 'Ready' }, by: ['cluster'] })} / ${total(MACHINES_BY_STATE, { where: { state: ['Ready', 'NotReady'] }, by: ['cluster'] })}`;

export const FLEET_DASHBOARD: Dashboard = {
  uid: UIDS.fleet,
  title: 'kubenode / Fleet',
  description:
    'Whether the fleet is healthy. Everything in the first row is green, or the number links to the dashboard that explains it.',
  hasClusters: true,
  rows: [
    {
      question: 'Is the fleet healthy?',
      panels: [
        now(
          {
            title: 'Alerts that fire',
            description: 'Alerts of deploy/prometheus. Each has a runbook: see the table below.',
            thresholds: badFrom(1),
          },
          `count(${FIRING}) or 0 * sum(${series(BUILD_INFO)})`,
        ),
        now(
          {
            title: 'Machines not Ready',
            description:
              'In service before, and not Ready now. Held machines are not counted: a person took them out.',
            thresholds: badFrom(1, 10),
            seeUid: UIDS.cluster,
          },
          total(MACHINES_BY_STATE, { where: { state: 'NotReady' } }),
        ),
        now(
          {
            title: 'Agents silent',
            description: 'Agents that stopped renewing their Lease.',
            thresholds: badFrom(1, 10),
            seeUid: UIDS.agents,
          },
          total(AGENTS_BY_STATE, { where: { state: 'Silent' } }),
        ),
        now(
          {
            title: 'Faults not repaired',
            description:
              'Machines on which a rule found a fault that waits: for the Defender, a window or a person.',
            thresholds: badFrom(1, 10),
            seeUid: UIDS.repairs,
          },
          zeroWhile('machines are counted', total(REMEDY_WAITING)),
        ),
        now(
          {
            title: 'Breakers open',
            description: 'An open breaker denies repairs and updates.',
            thresholds: badFrom(1),
            seeUid: UIDS.repairs,
          },
          zeroWhile(
            'machines are counted',
            `count(${highest(DEFENDER_BREAKERS, { by: ['cluster', 'name', 'key'] })} >= 2)`,
          ),
        ),
        now(
          {
            title: 'Objects stalled',
            description: 'Component sets, machines and machine sets that wait for a person.',
            thresholds: badFrom(1),
            seeUid: UIDS.rollouts,
          },
          zeroWhile('machines are counted', total(STALLED_OBJECTS)),
        ),
        now(
          {
            title: 'Clusters unreachable',
            description:
              'Clusters whose API server does not answer sync. They heal alone, and get no commit.',
            thresholds: badFrom(1),
            seeUid: UIDS.sync,
          },
          zeroWhile(
            'sync is scraped',
            `count(${lowest(SYNC_CLUSTER_REACHABLE, { by: ['cluster'] })}) - sum(${lowest(SYNC_CLUSTER_REACHABLE, { by: ['cluster'] })})`,
          ),
        ),
        now(
          {
            title: 'Releases stopped',
            description: 'Pipelines whose newest release waits for a person or for another commit.',
            thresholds: badFrom(1),
            seeUid: UIDS.sync,
          },
          zeroWhile('sync is scraped', `sum(${highest(SYNC_RELEASE_STOPPED, { by: ['pipeline'] })})`),
        ),
      ],
    },
    {
      question: 'Which cluster is it?',
      panels: [
        trend(
          {
            title: 'Machines Ready, of those in service',
            description: 'The objective machines-ready, by cluster.',
            unit: 'percentunit',
            thresholds: shareOfObjective('machines-ready'),
            seeUid: UIDS.cluster,
          },
          { expr: READY_SHARE, legend: '{{cluster}}' },
        ),
        trend(
          { title: 'Machines not Ready', description: 'By cluster.', seeUid: UIDS.cluster },
          {
            expr: total(MACHINES_BY_STATE, { where: { state: 'NotReady' }, by: ['cluster'] }),
            legend: '{{cluster}}',
          },
        ),
        table(
          { title: 'Alerts that fire', description: 'The runbook of each is in docs/reference/alerts.md.' },
          FIRING,
        ),
      ],
    },
    {
      question: 'What changes now?',
      panels: [
        trend(
          { title: 'Machines by state', description: 'Each machine has exactly one state.' },
          { expr: total(MACHINES_BY_STATE, { by: ['state'] }), legend: '{{state}}' },
        ),
        trend(
          {
            title: 'Machines in a rollout',
            description: 'By component set, over all clusters.',
            seeUid: UIDS.rollouts,
          },
          {
            expr: total(ROLLOUT_MACHINES, { where: { state: 'inProgress' }, by: ['set'] }),
            legend: '{{set}}',
          },
        ),
        trend(
          {
            title: 'Disruptions that run now',
            description:
              'Grants of the Defender that are given or started, and those that did not end in time.',
            seeUid: UIDS.repairs,
          },
          {
            expr: total(DEFENDER_GRANTS, {
              where: { state: ['Granted', 'Started', 'Suspect'] },
              by: ['state'],
            }),
            legend: '{{state}}',
          },
        ),
      ],
    },
    {
      question: 'Do the machines run what git declares?',
      panels: [
        trend(
          { title: 'Machines that differ', description: 'By component.', seeUid: UIDS.rollouts },
          {
            expr: total(COMPONENT_MACHINES, { where: { state: 'Differing' }, by: ['component'] }),
            legend: '{{component}}',
          },
        ),
        trend(
          {
            title: 'Oldest difference',
            description:
              'For how long the machine that has differed longest has not run what is desired. It grows over a rollout, and then falls.',
            unit: 's',
          },
          { expr: highest(COMPONENT_DIFFERING_SECONDS, { by: ['component'] }), legend: '{{component}}' },
        ),
        trend(
          {
            title: 'kubenode by version',
            description:
              'Processes that are scraped. More than one version is an upgrade that has not ended.',
          },
          { expr: `count by (process, version) (${series(BUILD_INFO)})`, legend: '{{process}} {{version}}' },
        ),
      ],
    },
  ],
};
