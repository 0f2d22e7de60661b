import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { certificatesStatus } from '../../../src/controllers/hosting/certificates.ts';
import {
  registerBackupMetrics,
  registerCertificateMetrics,
} from '../../../src/controllers/hosting/metrics.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { ago, NOW } from '../../support/builders.ts';
import {
  certificates,
  daysFromNow,
  HOSTED,
  hostedCluster,
  planeReport,
} from '../../support/hosting/objects.ts';

function clusterWith(but: Parameters<typeof certificates>[0] = {}, name = 'ci'): Cluster {
  const found = certificatesStatus(planeReport({ certificates: certificates(but) }));
  return hostedCluster({ name, status: { conditions: [], hosted: { certificates: [...found] } } });
}

async function samplesOf(...clusters: readonly Cluster[]): Promise<readonly string[]> {
  const metrics = createMetrics();
  registerCertificateMetrics(metrics, () => clusters);
  registerBackupMetrics(metrics, () => clusters);
  return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function secondsAt(days: number): number {
  return +daysFromNow(days) / 1000;
}

describe('the metrics of certificates', () => {
  it('HOS-23 have the first end of leaves and of authorities, and the first renewal', async () => {
    const early = clusterWith({ sync: { notAfter: daysFromNow(3), renewAt: daysFromNow(-2) } });
    expect(await samplesOf(early, clusterWith({ ca: { notAfter: NOW } }, 'b'))).toEqual([
      `kubenode_hosting_certificate_end_seconds{cluster="ci",kind="leaf"} ${secondsAt(3)}`,
      `kubenode_hosting_certificate_end_seconds{cluster="ci",kind="authority"} ${secondsAt(3649)}`,
      `kubenode_hosting_certificate_end_seconds{cluster="b",kind="leaf"} ${secondsAt(364)}`,
      `kubenode_hosting_certificate_end_seconds{cluster="b",kind="authority"} ${secondsAt(0)}`,
      `kubenode_hosting_certificate_renewal_seconds{cluster="ci"} ${secondsAt(-2)}`,
      `kubenode_hosting_certificate_renewal_seconds{cluster="b"} ${secondsAt(254)}`,
    ]);
  });

  it('have nothing about a Cluster whose certificates are not known', async () => {
    expect(await samplesOf(hostedCluster())).toEqual([]);
  });
});

function withBackup(name: string, status: 'True' | 'False', lastBackupAt?: string): Cluster {
  const etcd = { members: 1, ready: 1, ...(lastBackupAt === undefined ? {} : { lastBackupAt }) };
  const condition = { type: 'BackupReady', status, reason: 'X', message: '', lastTransitionTime: ago(60) };
  return hostedCluster({
    name,
    hosted: { etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 7 } } },
    status: { conditions: [condition], hosted: { etcd } },
  });
}

describe('the metrics of backups', () => {
  it('HOS-32 tell which Clusters have a recent one, and when it was taken', async () => {
    const found = [withBackup('ci', 'True', ago(60)), withBackup('b', 'False'), hostedCluster({ name: 'c' })];
    expect(await samplesOf(...found)).toEqual([
      'kubenode_hosting_backup_ready{cluster="ci"} 1',
      'kubenode_hosting_backup_ready{cluster="b"} 0',
      `kubenode_hosting_backup_time_seconds{cluster="ci"} ${Date.parse(ago(60)) / 1000}`,
    ]);
  });
});
