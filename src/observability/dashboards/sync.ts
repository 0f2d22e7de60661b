/** The dashboard of sync: whether commits reach the clusters, how fast, and whether hosted control planes are safe. */
import { LOOP_DELAY, RECONCILE } from '../../kube/process/metrics-runtime.ts';
import {
  HOSTING_BACKUP_READY,
  HOSTING_BACKUP_TIME,
  HOSTING_CERTIFICATE_END,
  HOSTING_CERTIFICATE_RENEWAL,
} from '../metrics/hosting.ts';
import { BUILD_INFO } from '../metrics/process.ts';
import {
  SYNC_CLUSTER_REACHABLE,
  SYNC_CLUSTERS,
  SYNC_CONTACT_AGE,
  SYNC_DRIFT_CORRECTIONS,
  SYNC_DRIFT_SECONDS,
  SYNC_OBJECTS,
  SYNC_PIPELINE_HEADS,
  SYNC_PIPELINE_STALE,
  SYNC_PUSH_SECONDS,
  SYNC_RELEASE_STOPPED,
  SYNC_RELEASES,
  SYNC_WEBHOOK_REQUESTS,
} from '../metrics/sync.ts';
import { SLOS } from '../slos/slos.ts';
import { burnRatePanel, withinObjective } from './objectives.ts';
import { badFrom, type Dashboard, goodFrom, now, table, trend } from './panel.ts';
import {
  events,
  highest,
  lowest,
  quantile,
  RESOLUTION,
  series,
  seriesIn,
  total,
  zeroWhile,
} from './promql.ts';
import { UIDS } from './uids.ts';

const HOUR = { window: '1h' };
const REACHABLE = lowest(SYNC_CLUSTER_REACHABLE, { by: ['cluster'] });

export const SYNC_DASHBOARD: Dashboard = {
  uid: UIDS.sync,
  title: 'kubenode / Sync',
  description: 'The way of commits from git to the clusters, on one hub.',
  hasClusters: false,
  rows: [
    {
      question: 'Do commits reach the clusters?',
      panels: [
        now(
          {
            title: 'Processes of sync',
            description: 'Without one no commit arrives. Clusters keep what they have, and heal alone.',
            thresholds: goodFrom(1),
          },
          `count(${series(BUILD_INFO, { process: 'sync' })}) or vector(0)`,
        ),
        now(
          {
            title: 'Clusters unreachable',
            description: 'Their API servers do not answer, or it is not known.',
            thresholds: badFrom(1),
          },
          zeroWhile('sync is scraped', `count(${REACHABLE}) - sum(${REACHABLE})`),
        ),
        now(
          {
            title: 'Repositories stale',
            description: 'They could not be read for two intervals: no commit and no revert arrives.',
            thresholds: badFrom(1),
          },
          zeroWhile('sync is scraped', `sum(${highest(SYNC_PIPELINE_STALE, { by: ['pipeline'] })})`),
        ),
        now(
          {
            title: 'Releases stopped',
            description: 'They wait for a person or for another commit. kubenode release list names them.',
            thresholds: badFrom(1),
          },
          zeroWhile('sync is scraped', `sum(${highest(SYNC_RELEASE_STOPPED, { by: ['pipeline'] })})`),
        ),
        now(
          {
            title: 'Objects that failed',
            description: 'Objects of git that a cluster refused in the last reconcile.',
            thresholds: badFrom(1),
          },
          zeroWhile('sync is scraped', total(SYNC_OBJECTS, { where: { state: 'failed' } })),
        ),
        now(
          {
            title: 'Oldest contact',
            description: 'Since when a cluster has not answered the process that syncs it.',
            unit: 's',
            thresholds: badFrom(60, 300),
          },
          zeroWhile('sync is scraped', highest(SYNC_CONTACT_AGE)),
        ),
      ],
    },
    {
      question: 'Where are the commits?',
      panels: [
        trend(
          { title: 'Clusters', description: 'By the state of their commit.' },
          { expr: total(SYNC_CLUSTERS, { by: ['state'] }), legend: '{{state}}' },
        ),
        trend(
          { title: 'Releases', description: 'By phase.' },
          { expr: total(SYNC_RELEASES, { by: ['phase'] }), legend: '{{phase}}' },
        ),
        trend(
          {
            title: 'Heads of branches',
            description:
              'Pipelines by the verdict on the newest commit. The status of the Pipeline has the reason of a refusal.',
          },
          { expr: total(SYNC_PIPELINE_HEADS, { by: ['verdict'] }), legend: '{{verdict}}' },
        ),
      ],
    },
    {
      question: 'Which cluster, and which repository is it?',
      panels: [
        table(
          {
            title: 'Clusters',
            description: 'Whether the API server answers.',
            words: { 0: 'unreachable', 1: 'reachable' },
          },
          REACHABLE,
        ),
        trend(
          {
            title: 'Age of the last contact',
            description: 'By cluster.',
            unit: 's',
            thresholds: badFrom(60, 300),
          },
          { expr: highest(SYNC_CONTACT_AGE, { by: ['cluster'] }), legend: '{{cluster}}' },
        ),
        trend(
          {
            title: 'Objects',
            description: 'That git declares, by cluster and the result of the last reconcile.',
          },
          { expr: total(SYNC_OBJECTS, { by: ['cluster', 'state'] }), legend: '{{cluster}} {{state}}' },
        ),
        table(
          {
            title: 'Repositories',
            description: 'Whether they can be read.',
            words: { 0: 'read', 1: 'stale' },
          },
          highest(SYNC_PIPELINE_STALE, { by: ['pipeline'] }),
        ),
      ],
    },
    {
      question: 'How fast is it?',
      panels: [
        trend(
          {
            title: 'Commit to its first stage, p95',
            description: 'The objective push-to-first-stage, in the hour before each point.',
            unit: 's',
            thresholds: withinObjective('push-to-first-stage'),
          },
          { expr: quantile(0.95, SYNC_PUSH_SECONDS, HOUR), legend: 'p95' },
        ),
        trend(
          {
            title: 'Difference to its correction, p95',
            description: 'The objective drift-corrected, in the hour before each point.',
            unit: 's',
            thresholds: withinObjective('drift-corrected'),
          },
          { expr: quantile(0.95, SYNC_DRIFT_SECONDS, HOUR), legend: 'p95' },
        ),
        trend(
          {
            title: 'Corrections',
            description:
              'Objects that others had changed or deleted, in the hour before each point. Find who it is in the audit log of the cluster.',
          },
          {
            expr: `sum by (cluster) (increase(${series(SYNC_DRIFT_CORRECTIONS)}[1h]))`,
            legend: '{{cluster}}',
          },
        ),
        burnRatePanel(SLOS.filter(({ scope }) => scope === 'hub').map(({ name }) => name)),
      ],
    },
    {
      question: 'Does sync itself work?',
      panels: [
        trend(
          {
            title: 'Reconciles that failed',
            description: 'By controller. The log of sync has each error.',
            thresholds: badFrom(1),
          },
          {
            expr: `sum by (controller) (${seriesIn('sync', RECONCILE, { where: { outcome: ['failed', 'timeout'] }, window: RESOLUTION, suffix: '_count' })})`,
            legend: '{{controller}}',
          },
        ),
        trend(
          {
            title: 'Webhooks',
            description: 'By result. Refused: not signed with the secret of the Pipeline.',
          },
          {
            expr: events(SYNC_WEBHOOK_REQUESTS, { by: ['result'], window: RESOLUTION }),
            legend: '{{result}}',
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
            expr: `max by (instance) (${seriesIn('sync', LOOP_DELAY, { where: { quantile: 'p99' } })})`,
            legend: '{{instance}}',
          },
        ),
      ],
    },
    {
      question: 'Are the hosted control planes safe?',
      panels: [
        table(
          {
            title: 'Time until a certificate ends',
            description: 'By cluster. An authority is never renewed alone: see the guide of hosted clusters.',
            unit: 's',
            thresholds: goodFrom(30 * 86_400, 7 * 86_400),
          },
          `${lowest(HOSTING_CERTIFICATE_END, { by: ['cluster', 'kind'] })} - time()`,
        ),
        table(
          {
            title: 'Age of the last backup',
            description: 'Of the etcd of clusters with a schedule of backups.',
            unit: 's',
            thresholds: badFrom(86_400, 172_800),
          },
          `time() - ${highest(HOSTING_BACKUP_TIME, { by: ['cluster'] })}`,
        ),
        table(
          {
            title: 'Time until a certificate is to be renewed',
            description: 'Below 0 its renewal is overdue, and after ten minutes an alert fires.',
            unit: 's',
            thresholds: goodFrom(0),
          },
          `${lowest(HOSTING_CERTIFICATE_RENEWAL, { by: ['cluster'] })} - time()`,
        ),
        table(
          {
            title: 'Recent backup',
            description: 'Whether the last one is younger than twice its interval.',
            thresholds: goodFrom(1),
            words: { 0: 'overdue', 1: 'recent' },
          },
          lowest(HOSTING_BACKUP_READY, { by: ['cluster'] }),
        ),
      ],
    },
  ],
};
