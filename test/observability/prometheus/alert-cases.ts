/** When each alert fires, when it does not yet, and when it ends: in minutes after the start, with one sample a minute. */

export interface AlertCase {
  readonly alert: string;
  readonly title?: string;
  readonly series: Readonly<Record<string, string>>;
  /** It does not fire then, although the cause may have begun. */
  readonly quietAt: number;
  /** Absent: it never fires. */
  readonly firesAt?: number;
  readonly resolvedAt: number;
  /** Of the alert, besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The value in its summary. */
  readonly value?: string;
}

const LEASE = 'kubenode-system/kubenode-controllers';

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'ControllersDown',
    series: { [`kubenode_lease_held{lease="${LEASE}"}`]: '1x10 0x20 1x30' },
    quietAt: 14,
    firesAt: 20,
    resolvedAt: 40,
  },
  {
    alert: 'ControllersDown',
    title: 'when no process is scraped',
    series: { [`kubenode_lease_held{lease="${LEASE}"}`]: '1x10 _x30 1x20' },
    quietAt: 14,
    firesAt: 30,
    resolvedAt: 50,
  },
  {
    alert: 'ControllersDown',
    title: 'not while another replica holds the Lease',
    series: {
      [`kubenode_lease_held{lease="${LEASE}",instance="a"}`]: '1x10 0x60',
      [`kubenode_lease_held{lease="${LEASE}",instance="b"}`]: '0x11 1x60',
    },
    quietAt: 20,
    resolvedAt: 60,
  },
  {
    alert: 'LeaseFlapping',
    series: {
      [`kubenode_lease_epoch{lease="${LEASE}",instance="a"}`]: '7x10 _x10 9x10 _x10 11x100',
      [`kubenode_lease_epoch{lease="${LEASE}",instance="b"}`]: '_x11 8x9 _x11 10x9',
    },
    quietAt: 25,
    firesAt: 55,
    resolvedAt: 140,
    labels: { lease: LEASE },
  },
  {
    alert: 'LeaseFlapping',
    title: 'not for an upgrade',
    series: {
      [`kubenode_lease_epoch{lease="${LEASE}",instance="a"}`]: '7x10 _x90',
      [`kubenode_lease_epoch{lease="${LEASE}",instance="b"}`]: '_x11 8x90',
    },
    quietAt: 30,
    resolvedAt: 90,
  },
  {
    alert: 'AgentsSilent',
    series: {
      'kubenode_agents{state="Silent",instance="a"}': '0x10 3x30 0x30',
      'kubenode_agents{state="Silent",instance="b"}': '0x10 3x30 0x30',
      'kubenode_agents{state="Reporting"}': '97x70',
    },
    quietAt: 20,
    firesAt: 30,
    resolvedAt: 50,
    value: '3',
  },
  {
    alert: 'AgentCertificateEnds',
    series: { kubenode_agents_certificate_end_seconds: '90000x60 604800x30' },
    quietAt: 50,
    resolvedAt: 50,
    title: 'not with a day and more left',
  },
  {
    alert: 'AgentCertificateEnds',
    series: { kubenode_agents_certificate_end_seconds: '88200x60 604800x30' },
    quietAt: 25,
    firesAt: 55,
    resolvedAt: 70,
  },
  {
    alert: 'RepairsDenied',
    series: {
      'kubenode_remedy_denied_seconds{rule="disk",reason="NodeBusy"}': '3000+60x30 0x30',
      'kubenode_remedy_denied_seconds{rule="gpu",reason="NodeBusy"}': '0+1x60',
    },
    quietAt: 12,
    firesAt: 20,
    resolvedAt: 40,
    labels: { rule: 'disk', reason: 'NodeBusy' },
  },
  {
    alert: 'NoticesNotDelivered',
    series: {
      'kubenode_notices_total{receiver="on-call",outcome="Failed"}': '0x10 1+1x30 31x120',
      'kubenode_notices_total{receiver="on-call",outcome="Delivered"}': '0x45 1x120',
      'kubenode_notices_total{receiver="chat",outcome="Delivered"}': '0+1x160',
    },
    quietAt: 20,
    firesAt: 40,
    resolvedAt: 50,
    labels: { receiver: 'on-call' },
  },
  {
    alert: 'NoticesNotDelivered',
    title: 'not while some arrive',
    series: {
      'kubenode_notices_total{receiver="on-call",outcome="Failed"}': '0x10 1+1x100',
      'kubenode_notices_total{receiver="on-call",outcome="Delivered"}': '0+1x110',
    },
    quietAt: 60,
    resolvedAt: 100,
  },
  {
    alert: 'BreakerOpen',
    series: { 'kubenode_defender_breaker_state{name="fleet-default/storm",key="zone a"}': '1x10 2x20 1x30' },
    quietAt: 9,
    firesAt: 15,
    resolvedAt: 35,
    labels: { name: 'fleet-default/storm', key: 'zone a' },
  },
  {
    alert: 'ZoneDark',
    series: { 'kubenode_defender_dark_zones{policy="fleet-default"}': '0x10 1x20 0x30' },
    quietAt: 9,
    firesAt: 15,
    resolvedAt: 35,
    labels: { policy: 'fleet-default' },
  },
  {
    alert: 'LedgerNotWritten',
    series: { kubenode_defender_ledger_failing_seconds: '0x9 0+60x20 0x30' },
    quietAt: 10,
    firesAt: 20,
    resolvedAt: 40,
  },
  {
    alert: 'RolloutStalled',
    series: {
      'kubenode_stalled_objects{kind="MachineComponentSet",reason="FailureBudget"}': '0x9 2x20 0x30',
    },
    quietAt: 12,
    firesAt: 20,
    resolvedAt: 40,
    labels: { kind: 'MachineComponentSet', reason: 'FailureBudget' },
    value: '2',
  },
  {
    alert: 'MachinesStalled',
    series: { 'kubenode_stalled_objects{kind="Machine",reason="Timeout"}': '_x10 1x30 _x30' },
    quietAt: 20,
    firesAt: 30,
    resolvedAt: 60,
    labels: { kind: 'Machine', reason: 'Timeout' },
    value: '1',
  },
  {
    alert: 'ActsNotRecorded',
    series: { 'kubenode_defender_unrecorded_acts{state="Waiting"}': '0x10 5x30 0x30' },
    quietAt: 20,
    firesAt: 35,
    resolvedAt: 50,
  },
  {
    alert: 'SyncDown',
    series: { 'kubenode_build_info{process="sync",version="1"}': '1x10 _x30 1x30' },
    quietAt: 12,
    firesAt: 30,
    resolvedAt: 50,
    labels: { process: 'sync' },
  },
  {
    alert: 'SyncStale',
    series: {
      'kubenode_sync_pipeline_stale{pipeline="fleet",instance="a"}': '0x10 1x20 0x30',
      'kubenode_sync_pipeline_stale{pipeline="fleet",instance="b"}': '0x10 1x20 0x30',
      'kubenode_sync_pipeline_stale{pipeline="other"}': '0x60',
    },
    quietAt: 14,
    firesAt: 20,
    resolvedAt: 40,
    labels: { pipeline: 'fleet' },
  },
  {
    alert: 'ClusterUnreachable',
    series: {
      'kubenode_sync_cluster_reachable{cluster="eu"}': '1x10 0x20 1x30',
      'kubenode_sync_cluster_reachable{cluster="us"}': '1x60',
    },
    quietAt: 14,
    firesAt: 20,
    resolvedAt: 40,
    labels: { cluster: 'eu' },
  },
  {
    alert: 'ReleaseStopped',
    series: { 'kubenode_sync_release_stopped{pipeline="fleet"}': '0x10 1x20 0x30' },
    quietAt: 14,
    firesAt: 20,
    resolvedAt: 40,
    labels: { pipeline: 'fleet' },
  },
  {
    alert: 'WebhooksRefused',
    series: {
      'kubenode_sync_webhook_requests_total{result="Refused"}': '0x10 0+2x20 40x60',
      'kubenode_sync_webhook_requests_total{result="Accepted"}': '0+9x90',
    },
    quietAt: 9,
    firesAt: 25,
    resolvedAt: 60,
    labels: { result: 'Refused' },
  },
  {
    alert: 'WebhooksRefused',
    title: 'not for a few that a proxy broke',
    series: { 'kubenode_sync_webhook_requests_total{result="Refused"}': '0x10 3x60' },
    quietAt: 20,
    resolvedAt: 60,
  },
  {
    alert: 'SyncLeaseFlapping',
    series: {
      'kubenode_lease_epoch{lease="kubenode-system/cluster-eu",instance="a"}': '7x10 _x10 9x10 _x10 11x100',
      'kubenode_lease_epoch{lease="kubenode-system/cluster-eu",instance="b"}': '_x11 8x9 _x11 10x9',
      [`kubenode_lease_epoch{lease="${LEASE}"}`]: '0+1x140',
    },
    quietAt: 25,
    firesAt: 55,
    resolvedAt: 140,
    labels: { lease: 'kubenode-system/cluster-eu' },
  },
];

const LEAF = 'kubenode_hosting_certificate_end_seconds{cluster="ci", kind="leaf"}';
const AUTHORITY = 'kubenode_hosting_certificate_end_seconds{cluster="ci", kind="authority"}';
const RENEWAL = 'kubenode_hosting_certificate_renewal_seconds{cluster="ci"}';

export const HOSTING_CASES: readonly AlertCase[] = [
  {
    alert: 'HostedCertificateRenewalOverdue',
    title: 'not while certificates of an hour are renewed in time',
    series: { [LEAF]: '3600+60x30', [RENEWAL]: '2520+60x30' },
    quietAt: 20,
    resolvedAt: 25,
  },
  {
    alert: 'HostedCertificateRenewalOverdue',
    series: { [LEAF]: '518400x60', [RENEWAL]: '0x40 9999999x20' },
    quietAt: 12,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci' },
  },
  {
    alert: 'HostedCertificateEndsIn30Days',
    title: 'not for certificates of an hour',
    series: { [LEAF]: '3600+60x30', [RENEWAL]: '2520+60x30' },
    quietAt: 20,
    resolvedAt: 25,
  },
  {
    alert: 'HostedCertificateEndsIn30Days',
    series: { [LEAF]: '518400x40 31536000x20', [RENEWAL]: '0x40 9999999x20' },
    quietAt: 12,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci', kind: 'leaf' },
  },
  {
    alert: 'HostedCertificateEndsIn30Days',
    title: 'for an authority, which is never renewed',
    series: { [AUTHORITY]: '1728000x40 315360000x20' },
    quietAt: 3,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci', kind: 'authority' },
  },
  {
    alert: 'HostedCertificateEndsIn7Days',
    series: { [LEAF]: '518400x40 31536000x20', [RENEWAL]: '0x40 9999999x20' },
    quietAt: 12,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci', kind: 'leaf' },
  },
  {
    alert: 'HostedCertificateEndsIn7Days',
    title: 'not for an authority with 20 days',
    series: { [AUTHORITY]: '1728000x40' },
    quietAt: 20,
    resolvedAt: 35,
  },
  {
    alert: 'HostedCertificateEndsIn7Days',
    title: 'for an authority with 6 days',
    series: { [AUTHORITY]: '518400x40 315360000x20' },
    quietAt: 3,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci', kind: 'authority' },
  },
  {
    alert: 'HostedBackupOverdue',
    series: {
      'kubenode_hosting_backup_ready{cluster="ci"}': '0x40 1x20',
      'kubenode_hosting_backup_ready{cluster="b"}': '1x60',
    },
    quietAt: 10,
    firesAt: 20,
    resolvedAt: 45,
    labels: { cluster: 'ci' },
  },
];
