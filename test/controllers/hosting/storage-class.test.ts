import { describe, expect, it } from 'vitest';
import { backupReady } from '../../../src/controllers/hosting/backups.ts';
import { hostingConditions } from '../../../src/controllers/hosting/conditions.ts';
import type { ClaimClass } from '../../../src/controllers/hosting/drivers/driver.ts';
import { NOW } from '../../support/builders.ts';
import { HOSTED, hostingInput } from '../../support/hosting/objects.ts';

const BACKUP = { everySeconds: 3600, keep: 3 };
const backups = [{ name: '000001-20300101T000000Z', takenAt: new Date(+NOW - 60_000) }];

function differing(claim: string, isBackup = false): ClaimClass {
  return { claim: `kn-ci/${claim}`, isBackup, found: 'slow', expected: 'fast' };
}

function etcdReady(...otherClasses: readonly ClaimClass[]): string {
  const all = hostingConditions(hostingInput({ plane: { otherClasses } }), undefined);
  const found = all.find(({ type }) => type === 'EtcdReady');
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

describe('a claim of another StorageClass', () => {
  it('HOS-06 is named in EtcdReady with what to do, and etcd is ready all the same', () => {
    expect(etcdReady(differing('etcd'))).toMatch(
      /^True StorageClassDiffers: 1 of 1 members answers; PersistentVolumeClaim kn-ci\/etcd has StorageClass slow, and the file of images names fast: a claim keeps its class; /,
    );
    expect(etcdReady(differing('etcd-backups', true))).toMatch(/^True Ready/);
  });

  it('HOS-06 is one of three that are named, however many there are', () => {
    const claims = ['etcd', 'etcd-1', 'etcd-2', 'etcd-3', 'etcd-4'].map((name) => differing(name));
    expect(etcdReady(...claims)).toContain(
      'kn-ci/etcd-2 has StorageClass slow, and the file of images names fast, and 2 more: ',
    );
  });

  it('HOS-06 is named in BackupReady where its volume has the backups', () => {
    const plane = { backup: { backups }, otherClasses: [differing('etcd'), differing('etcd-backups', true)] };
    const [ready] = backupReady(
      hostingInput({ hosted: { etcd: { ...HOSTED.etcd, backup: BACKUP } }, plane }),
    );
    expect(ready).toMatchObject({ status: 'True', reason: 'StorageClassDiffers' });
    expect(ready?.message).toMatch(
      /kn-ci\/etcd-backups has StorageClass slow.*set the volume of this claim to Retain/,
    );
    expect(ready?.message).not.toContain('kn-ci/etcd has');
  });
});
