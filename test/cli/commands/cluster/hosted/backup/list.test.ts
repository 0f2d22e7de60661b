import { describe, expect, it } from 'vitest';
import {
  backupTable,
  backupView,
  hubError,
} from '../../../../../../src/cli/commands/cluster/hosted/backup/list.ts';
import { describeError } from '../../../../../../src/cli/errors.ts';
import type { StoredBackup } from '../../../../../../src/controllers/hosting/drivers/etcd/backup/store.ts';
import { KubeError } from '../../../../../../src/kube/client/errors.ts';
import { ago, NOW } from '../../../../../support/builders.ts';

const BACKUP: StoredBackup = {
  name: '000042-20300101T000000Z',
  record: {
    format: 1,
    takenAt: ago(7200),
    etcdVersion: 'v3.6.8',
    revision: 900,
    keys: 812,
    kubernetesVersion: 'v1.36.3',
    bytes: 4_200_001,
    cluster: 'ci',
    sha256: 'a',
  },
};

const PLACE = { cluster: 'ci', folder: '/backups/ci' };

describe('the list of backups', () => {
  it('has a row for each, with its age and the versions that a restore needs', () => {
    const { rows } = backupTable([backupView(BACKUP)], { ...PLACE, now: NOW });
    expect(rows).toEqual([['000042-20300101T000000Z', '2h', 'v1.36.3', 'v3.6.8', '812', '5 MB']]);
  });

  it('has nothing where nothing is known, and names the folder when it is empty', () => {
    const { kubernetesVersion: _, bytes: __, ...record } = BACKUP.record;
    expect(backupView({ ...BACKUP, record })).toEqual({
      name: '000042-20300101T000000Z',
      takenAt: ago(7200),
      etcdVersion: 'v3.6.8',
      revision: 900,
      keys: 812,
    });
    const view = backupView({ ...BACKUP, record });
    expect(backupTable([view], { ...PLACE, now: NOW }).rows[0]).toContain('-');
    expect(backupTable([], { ...PLACE, now: NOW }).empty).toBe('Cluster ci has no backup in /backups/ci');
  });

  it('tells what to do where the folder is empty and no hub answers', () => {
    const refused = new KubeError('Unreachable', 'the connection was refused');
    const { text, exitCode } = describeError(hubError(refused, { name: 'ci', folder: '/backups/ci' }));
    expect(text).toMatch(
      /^error: Cluster ci has no backup in \/backups\/ci, and .*: the connection was refused$/m,
    );
    expect(text).toMatch(/hint: .*--context.*--dir/);
    expect(exitCode).toBe(69);
    const aborted = new KubeError('Aborted', 'it was interrupted');
    expect(hubError(aborted, { name: 'ci', folder: '/backups/ci' })).toBe(aborted);
  });
});
