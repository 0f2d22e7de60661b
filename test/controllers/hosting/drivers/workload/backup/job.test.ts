import { describe, expect, it } from 'vitest';
import { ANNOTATION_BACKUP_REQUEST } from '../../../../../../src/api/names.ts';
import {
  backupJob,
  drillJob,
  isOnClaim,
  isSameTask,
  restoreJob,
  taskOf,
} from '../../../../../../src/controllers/hosting/drivers/workload/backup/job.ts';
import { backupsGiB } from '../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { listAt, textAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const PARTS = {
  cluster: 'ci',
  member: 'etcd-1',
  address: '10.0.0.4',
  takenAt: new Date('2030-01-01T12:00:00Z'),
  images: { etcd: 'etcd@sha256:1', kubenode: 'kubenode@sha256:2' },
  versions: { etcd: 'v3.6.8', kubernetes: 'v1.36.3' },
  priorityClass: 'system-cluster-critical',
  claim: 'claim-uid',
} as const;
const RESTORE = { from: 'latest', peerUrl: 'https://10.0.0.2:2380' };
const SERVER = {
  image: 'kube-apiserver@sha256:4',
  flags: { 'goaway-chance': '0.1' },
  serviceCIDR: '10.97.0.0/16',
} as const;
const BACKUP = backupJob(PARTS, { keep: 7 });

function containersOf(job: KubeObject): readonly unknown[] {
  const pod = ['spec', 'template', 'spec'] as const;
  return [...listAt(job, ...pod, 'initContainers'), ...listAt(job, ...pod, 'containers')];
}

/** Returns the volumes that each container writes. */
function writes(job: KubeObject): readonly string[] {
  return containersOf(job).map((container) => {
    const mounts = listAt(container, 'volumeMounts').filter((each) => valueAt(each, 'readOnly') !== true);
    return `${textAt(container, 'name')}: ${mounts.map((each) => textAt(each, 'name')).join(' ')}`;
  });
}

function claims(job: KubeObject): readonly string[] {
  return listAt(job, 'spec', 'template', 'spec', 'volumes').flatMap(
    (volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? [],
  );
}

describe('the Jobs with the volume of backups', () => {
  it.each<readonly [string, KubeObject, readonly string[], readonly string[]]>([
    [
      'Backup',
      BACKUP,
      ['copy: snapshots tmp', 'etcd: snapshots tmp', 'keep: snapshots tmp'],
      ['etcd-1', 'etcd-backups'],
    ],
    [
      'Drill',
      drillJob(PARTS, SERVER),
      [
        'open: snapshots drill tmp',
        'etcd: snapshots tmp',
        'kube-apiserver: drill tmp',
        'check: snapshots drill tmp',
      ],
      ['etcd-backups'],
    ],
    [
      'Restore',
      restoreJob(PARTS, RESTORE),
      ['open: data tmp', 'etcd: data tmp', 'place: data tmp'],
      ['etcd', 'etcd-backups'],
    ],
  ])('HOS-32 have one name, so that never two run: %s', (task, job, written, mounted) => {
    expect([job.metadata.name, taskOf(job)]).toEqual(['etcd-backups', task]);
    expect(writes(job)).toEqual(written);
    expect(claims(job)).toEqual(mounted);
    expect(valueAt(job, 'spec')).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 1800 });
    expect(listAt(containersOf(job)[1], 'args')).toContain('--force-new-cluster');
  });

  it('HOS-32 run beside the etcd that is copied, and elsewhere where none runs', () => {
    const affinity = ['spec', 'template', 'spec', 'affinity'] as const;
    expect(JSON.stringify(valueAt(BACKUP, ...affinity))).toContain('"kubenode.dev/part":"etcd-1"');
    expect(valueAt(drillJob(PARTS, SERVER), ...affinity)).toBeUndefined();
    expect(valueAt(restoreJob(PARTS, RESTORE), ...affinity)).toBeUndefined();
  });

  it('HOS-32 test a backup with the API server of the control plane, on the copy alone, and keys that end with the pod', () => {
    const job = drillJob(PARTS, SERVER);
    const server = containersOf(job)[2];
    expect([textAt(server, 'image'), textAt(server, 'restartPolicy')]).toEqual([SERVER.image, 'Always']);
    expect(listAt(server, 'args')).toEqual(
      expect.arrayContaining([
        '--bind-address=127.0.0.1',
        '--etcd-servers=https://127.0.0.1:2379',
        '--etcd-prefix=/ci',
        '--client-ca-file=/var/lib/drill/pki/ca.crt',
        '--service-cluster-ip-range=10.97.0.0/16',
        '--endpoint-reconciler-type=none',
        '--goaway-chance=0.1',
        '--etcd-compaction-interval=0s',
      ]),
    );
    const volumes = listAt(job, 'spec', 'template', 'spec', 'volumes');
    expect(volumes).toContainEqual({ name: 'drill', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } });
    expect(JSON.stringify(volumes)).not.toContain('"secretName":"kube-apiserver"');
    expect(isSameTask(job, drillJob(PARTS, { ...SERVER, image: 'another' }))).toBe(false);
  });

  it('HOS-32 have the request as a person wrote it, and as an argument that the hub does not expand', () => {
    const job = backupJob(PARTS, { keep: 7, request: 'a $(HOME) $$' });
    expect(job.metadata.annotations?.[ANNOTATION_BACKUP_REQUEST]).toBe('a $(HOME) $$');
    expect(listAt(containersOf(job)[0], 'args')).toContain('--request=a $$(HOME) $$$$');
  });

  it('HOS-32 are the same for the same options, images and versions, whichever member is copied', () => {
    const other = { ...PARTS, member: 'etcd', address: '10.0.0.2', takenAt: new Date(0) } as const;
    expect(isSameTask(BACKUP, backupJob(other, { keep: 7 }))).toBe(true);
    expect(isSameTask(BACKUP, backupJob(PARTS, { keep: 8 }))).toBe(false);
    expect(isSameTask(BACKUP, backupJob(PARTS, { keep: 7, request: 'by hand' }))).toBe(false);
    const images = { etcd: 'etcd@sha256:1', kubenode: 'kubenode@sha256:3' };
    expect(isSameTask(BACKUP, backupJob({ ...PARTS, images }, { keep: 7 }))).toBe(false);
    expect(isSameTask(BACKUP, backupJob({ ...PARTS, claim: 'another' }, { keep: 7 }))).toBe(false);
    expect([isOnClaim(BACKUP, 'claim-uid'), isOnClaim(BACKUP, 'another')]).toEqual([true, false]);
    expect(isSameTask(BACKUP, drillJob(PARTS, SERVER))).toBe(false);
    const bare = { ...BACKUP, metadata: { name: 'etcd-backups' } };
    expect([taskOf(bare), isSameTask(bare, bare)]).toEqual([undefined, false]);
  });

  it.each([
    [8, 2048, 16],
    [8, 8192, 33],
    [1, 100, 2],
  ])(
    'HOS-32 have room: %i GiB for etcd and a quota of %i MiB are %i GiB',
    (storageGiB, quotaMiB, expected) => {
      expect(backupsGiB(planeRecord({ etcd: { replicas: 1, storageGiB, quotaMiB } }))).toBe(expected);
    },
  );
});
