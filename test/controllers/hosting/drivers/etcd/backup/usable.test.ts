import { describe, expect, it } from 'vitest';
import { unusableReason } from '../../../../../../src/controllers/hosting/drivers/etcd/backup/usable.ts';
import type { SnapshotRecord } from '../../../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';

const RECORD: SnapshotRecord = {
  format: 1,
  takenAt: '2030-01-01T00:00:00Z',
  etcdVersion: 'v3.5.20',
  revision: 1,
  keys: 1,
  cluster: 'ci',
  kubernetesVersion: 'v1.35.4',
  sha256: 'a',
};
const TARGET = { cluster: 'ci', kubernetes: 'v1.35.9', etcd: 'v3.5.21' };

describe('a backup', () => {
  it.each<readonly [string, Partial<SnapshotRecord>, Partial<typeof TARGET>, string]>([
    ['of the same minor versions', {}, {}, ''],
    ['of the minor version before', {}, { kubernetes: 'v1.36.0', etcd: 'v3.6.0' }, ''],
    ['of two minor versions before', {}, { kubernetes: 'v1.37.0' }, 'v1.37.0 cannot start from it'],
    ['of a later version', {}, { kubernetes: 'v1.34.1' }, 'it is of v1.35.4, and v1.34.1'],
    ['of a later etcd', { etcdVersion: 'v3.6.0' }, {}, 'etcd v3.5.21 cannot start from it'],
    ['of an etcd of another major version', { etcdVersion: 'v2.6.0' }, {}, 'etcd v3.5.21 cannot'],
    ['of another Cluster', { cluster: 'prod' }, {}, 'it is of Cluster prod'],
    ['that was taken before an upgrade', { cluster: undefined }, {}, 'not that of a backup'],
    ['without a digest', { sha256: undefined }, {}, 'not that of a backup'],
  ])('HOS-32 is judged before it is restored: one %s', (_, record, target, expected) => {
    const [problem = '', hint = ''] =
      unusableReason({ ...RECORD, ...record }, { ...TARGET, ...target }) ?? [];
    expect(problem).toContain(expected);
    expect([problem === '', hint === '']).toEqual([expected === '', expected === '']);
  });
});
