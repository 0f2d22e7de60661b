/** The metrics of hosted control planes. */
import { defineGauge } from '../../kube/process/metrics.ts';
import { CLUSTERS } from './limits.ts';

const SERVED = { processes: ['hosting'], writtenIn: 'src/controllers/hosting/metrics.ts' } as const;

export const HOSTING_CERTIFICATE_END = defineGauge({
  ...SERVED,
  name: 'hosting_certificate_end_seconds',
  help: 'When the first certificate of a hosted control plane ends, in seconds since 1970.',
  labels: { cluster: CLUSTERS, kind: ['leaf', 'authority'] },
  maxSeries: 1000,
});

export const HOSTING_CERTIFICATE_RENEWAL = defineGauge({
  ...SERVED,
  name: 'hosting_certificate_renewal_seconds',
  help: 'When the first certificate of a hosted control plane is to be renewed, in seconds since 1970.',
  labels: { cluster: CLUSTERS },
});

export const HOSTING_BACKUP_READY = defineGauge({
  ...SERVED,
  name: 'hosting_backup_ready',
  help: 'Whether the last backup of the etcd of a hosted control plane is younger than twice its interval.',
  labels: { cluster: CLUSTERS },
});

export const HOSTING_BACKUP_TIME = defineGauge({
  ...SERVED,
  name: 'hosting_backup_time_seconds',
  help: 'When the last backup of the etcd of a hosted control plane was taken, in seconds since 1970.',
  labels: { cluster: CLUSTERS },
});

export const HOSTING_METRICS = [
  HOSTING_CERTIFICATE_END,
  HOSTING_CERTIFICATE_RENEWAL,
  HOSTING_BACKUP_READY,
  HOSTING_BACKUP_TIME,
];
