/** The alerts about a hub, for a Prometheus that scrapes its `kubenode sync` and `kubenode hosting`. Only what a person must act on. */
import { CONTROLLERS_LEASE } from '../../api/names.ts';
import type { AlertRule } from '../prometheus/rule.ts';
import { leaseFlaps } from './lease-flaps.ts';
import { runbookPage, runbookUrl } from './runbook.ts';

type AlertText = Omit<AlertRule, 'runbookUrl'>;

/** The alerts of a cluster have it: a hub may be a cluster, too. */
const CONTROLLERS = `${CONTROLLERS_LEASE.namespace}/${CONTROLLERS_LEASE.name}`;

const SYNC: readonly AlertText[] = [
  {
    alert: 'SyncDown',
    expr: 'absent(kubenode_build_info{process="sync"})',
    for: '5m',
    severity: 'critical',
    summary: 'No process of sync is scraped: no commit reaches a cluster',
  },
  {
    alert: 'SyncStale',
    expr: 'max by (pipeline) (kubenode_sync_pipeline_stale) == 1',
    for: '5m',
    severity: 'critical',
    summary:
      'The repository of pipeline {{ $labels.pipeline }} cannot be read: no commit and no revert arrives',
  },
  {
    alert: 'ClusterUnreachable',
    expr: 'min by (cluster) (kubenode_sync_cluster_reachable) == 0',
    for: '5m',
    severity: 'critical',
    summary: 'Sync does not reach the cluster {{ $labels.cluster }}',
  },
  {
    alert: 'ReleaseStopped',
    expr: 'max by (pipeline) (kubenode_sync_release_stopped) == 1',
    for: '5m',
    severity: 'warning',
    summary: 'The newest release of pipeline {{ $labels.pipeline }} is stopped',
  },
  {
    alert: 'WebhooksRefused',
    expr: 'sum by (result) (increase(kubenode_sync_webhook_requests_total{result="Refused"}[15m])) > 5',
    for: '5m',
    severity: 'warning',
    summary:
      'Webhooks are refused because their signatures do not match: a secret differs, or somebody tries',
  },
  {
    alert: 'SyncLeaseFlapping',
    expr: leaseFlaps(`{lease!="${CONTROLLERS}"}`),
    for: '5m',
    severity: 'warning',
    summary: 'The holder of the Lease {{ $labels.lease }} changed more than three times within an hour',
  },
];

const OVERDUE = 'time() - max by (cluster) (kubenode_hosting_certificate_renewal_seconds) > 600';

/** An authority is never renewed, and a leaf alerts only when its renewal is overdue: some live for an hour. */
function endsWithin(days: number): string {
  const left = (kind: string): string =>
    `min by (cluster, kind) (kubenode_hosting_certificate_end_seconds{kind="${kind}"}) - time() < ${days} * 86400`;
  return `(${left('leaf')} and on (cluster) ${OVERDUE}) or ${left('authority')}`;
}

const CERTIFICATES = runbookPage('certificate-expiry');

export const HOSTING_ALERTS: readonly AlertRule[] = [
  {
    alert: 'HostedCertificateRenewalOverdue',
    expr: OVERDUE,
    for: '5m',
    severity: 'warning',
    summary: 'A certificate of the hosted cluster {{ $labels.cluster }} is not renewed',
    runbookUrl: CERTIFICATES,
  },
  {
    alert: 'HostedCertificateEndsIn30Days',
    expr: endsWithin(30),
    for: '5m',
    severity: 'warning',
    summary: 'A certificate of the hosted cluster {{ $labels.cluster }} ends within 30 days',
    runbookUrl: CERTIFICATES,
  },
  {
    alert: 'HostedCertificateEndsIn7Days',
    expr: endsWithin(7),
    for: '5m',
    severity: 'critical',
    summary: 'A certificate of the hosted cluster {{ $labels.cluster }} ends within 7 days',
    runbookUrl: CERTIFICATES,
  },
  {
    alert: 'HostedBackupOverdue',
    expr: 'min by (cluster) (kubenode_hosting_backup_ready) == 0',
    for: '15m',
    severity: 'warning',
    summary: 'The etcd of the hosted cluster {{ $labels.cluster }} has no recent backup',
    runbookUrl: runbookPage('etcd-backup'),
  },
];

export const SYNC_ALERTS: readonly AlertRule[] = SYNC.map((text) => ({
  ...text,
  runbookUrl: runbookUrl(text.alert),
}));
