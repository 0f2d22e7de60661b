/** The alerts about a cluster, for a Prometheus that scrapes its `kubenode controllers`. Only what a person must act on. */
import { CONTROLLERS_LEASE } from '../../api/names.ts';
import type { AlertRule } from '../prometheus/rule.ts';
import { leaseFlaps } from './lease-flaps.ts';
import { runbookUrl } from './runbook.ts';

const LEASE = `${CONTROLLERS_LEASE.namespace}/${CONTROLLERS_LEASE.name}`;

type AlertText = Omit<AlertRule, 'runbookUrl'>;

/** In each alert, replicas that tell the same are one: by `max`, `min` or `sum`. */
const TEXTS: readonly AlertText[] = [
  {
    alert: 'ControllersDown',
    expr: `absent(kubenode_lease_held{lease="${LEASE}"} == 1)`,
    for: '5m',
    severity: 'critical',
    summary: 'No process leads the controllers: nothing is repaired or updated',
  },
  {
    alert: 'LeaseFlapping',
    expr: leaseFlaps(`{lease="${LEASE}"}`),
    for: '5m',
    severity: 'warning',
    summary: 'The holder of the Lease {{ $labels.lease }} changed more than three times within an hour',
  },
  {
    alert: 'AgentsSilent',
    expr: 'max(kubenode_agents{state="Silent"}) > 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} agents have been silent for 15 minutes',
  },
  {
    alert: 'AgentCertificateEnds',
    expr: 'min(kubenode_agents_certificate_end_seconds) - time() < 86400',
    for: '15m',
    severity: 'critical',
    summary: 'The certificate of an agent that reports ends within a day and is not renewed',
  },
  {
    alert: 'RepairsDenied',
    expr: 'max by (rule, reason) (kubenode_remedy_denied_seconds) > 3600',
    for: '5m',
    severity: 'warning',
    summary: 'The Defender has denied repairs by rule {{ $labels.rule }} for an hour: {{ $labels.reason }}',
  },
  {
    alert: 'NoticesNotDelivered',
    expr:
      'sum by (receiver) (increase(kubenode_notices_total{outcome!="Delivered"}[1h])) > 0 ' +
      'unless sum by (receiver) (increase(kubenode_notices_total{outcome="Delivered"}[1h])) > 0',
    for: '15m',
    severity: 'critical',
    summary: 'The receiver {{ $labels.receiver }} takes nothing of what repairs hand to people',
  },
  {
    alert: 'BreakerOpen',
    expr: 'max by (name, key) (kubenode_defender_breaker_state) >= 2',
    for: '1m',
    severity: 'critical',
    summary: 'The breaker {{ $labels.name }} {{ $labels.key }} is open: it denies repairs and updates',
  },
  {
    alert: 'ZoneDark',
    expr: 'max by (policy) (kubenode_defender_dark_zones) > 0',
    for: '1m',
    severity: 'critical',
    summary: 'A zone is dark by policy {{ $labels.policy }}: nothing disruptive is done there',
  },
  {
    alert: 'LedgerNotWritten',
    expr: 'max(kubenode_defender_ledger_failing_seconds) > 60',
    for: '1m',
    severity: 'critical',
    summary: 'The Defender cannot write its ledger: every repair and update is denied',
  },
  {
    alert: 'RolloutStalled',
    expr: 'max by (kind, reason) (kubenode_stalled_objects{kind="MachineComponentSet"}) > 0',
    for: '5m',
    severity: 'warning',
    summary: '{{ $value }} component sets are stalled: {{ $labels.reason }}',
  },
  {
    alert: 'MachinesStalled',
    expr: 'max by (kind, reason) (kubenode_stalled_objects{kind=~"Machine|MachineSet"}) > 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} objects of kind {{ $labels.kind }} are stalled: {{ $labels.reason }}',
  },
  {
    alert: 'ActsNotRecorded',
    expr: 'max(kubenode_defender_unrecorded_acts{state="Waiting"}) > 0',
    for: '15m',
    severity: 'warning',
    summary: 'Acts on machines cannot be written to the audit record, and are dropped when too many wait',
  },
];

export const CLUSTER_ALERTS: readonly AlertRule[] = TEXTS.map((text) => ({
  ...text,
  runbookUrl: runbookUrl(text.alert),
}));
