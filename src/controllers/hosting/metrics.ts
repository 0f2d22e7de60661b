/** Metrics of the certificates and backups of hosted control planes, from the status of their Clusters. deploy/prometheus/hub.yaml has the alerts. */
import type { Cluster, HostedCertificate } from '../../api/generated/types.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import type { GaugeSample, Metrics } from '../../kube/process/metrics.ts';
import {
  HOSTING_BACKUP_READY,
  HOSTING_BACKUP_TIME,
  HOSTING_CERTIFICATE_END,
  HOSTING_CERTIFICATE_RENEWAL,
} from '../../observability/metrics/hosting.ts';

/** Registers the first end of each kind of certificate: the status has all of them, with their names. */
export function registerCertificateMetrics(metrics: Metrics, clusters: () => readonly Cluster[]): void {
  metrics.gauge({ ...HOSTING_CERTIFICATE_END, read: () => clusters().flatMap(endsOf) });
  metrics.gauge({ ...HOSTING_CERTIFICATE_RENEWAL, read: () => clusters().flatMap(renewalOf) });
}

/** Registers the backups of the Clusters with a schedule for them. */
export function registerBackupMetrics(metrics: Metrics, clusters: () => readonly Cluster[]): void {
  const configured = (): readonly Cluster[] =>
    clusters().filter(({ spec }) => spec.hosted?.etcd.backup !== undefined);
  metrics.gauge({
    ...HOSTING_BACKUP_READY,
    read: () =>
      configured().map((cluster) => [{ cluster: cluster.metadata.name }, isBackupReady(cluster) ? 1 : 0]),
  });
  metrics.gauge({ ...HOSTING_BACKUP_TIME, read: () => configured().flatMap(backupTimeOf) });
}

function isBackupReady({ status }: Cluster): boolean {
  return conditionStatus(status?.conditions, 'BackupReady') === 'True';
}

function backupTimeOf({ metadata: { name }, status }: Cluster): readonly GaugeSample<'cluster'>[] {
  const seconds = Date.parse(status?.hosted?.etcd?.lastBackupAt ?? '') / 1000;
  return Number.isFinite(seconds) ? [[{ cluster: name }, seconds]] : [];
}

/** Returns the ends by kind: an authority is never renewed, so its end needs another alert. */
function endsOf(cluster: Cluster): readonly GaugeSample<'cluster' | 'kind'>[] {
  const all = certificatesOf(cluster);
  const kinds = {
    leaf: all.filter(({ renewAt }) => renewAt !== undefined),
    authority: all.filter(({ renewAt }) => renewAt === undefined),
  };
  return Object.entries(kinds).flatMap(([kind, certificates]) =>
    first(certificates, 'notAfter').map(
      (seconds) => [{ cluster: cluster.metadata.name, kind }, seconds] as const,
    ),
  );
}

function renewalOf(cluster: Cluster): readonly GaugeSample<'cluster'>[] {
  const { name } = cluster.metadata;
  return first(certificatesOf(cluster), 'renewAt').map((seconds) => [{ cluster: name }, seconds] as const);
}

function certificatesOf({ status }: Cluster): readonly HostedCertificate[] {
  return status?.hosted?.certificates ?? [];
}

/** Returns the first of these times. Empty where none is known: a wrong time would raise an alert, or hide one. */
function first(certificates: readonly HostedCertificate[], field: 'notAfter' | 'renewAt'): readonly number[] {
  const times = certificates.map((each) => Date.parse(each[field] ?? '') / 1000).filter(Number.isFinite);
  return times.length > 0 ? [Math.min(...times)] : [];
}
