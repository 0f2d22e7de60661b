import { describe, expect, it } from 'vitest';
import {
  notTaken,
  requireHosted,
  takenFor,
} from '../../../../../../src/cli/commands/cluster/hosted/backup/now.ts';
import { ago } from '../../../../../support/builders.ts';
import { hostedCluster } from '../../../../../support/hosting/objects.ts';

const CONDITION = {
  type: 'BackupReady',
  status: 'False',
  reason: 'BackupFailed',
  message: 'the disk is full',
};
const TAKEN = { backupRequest: 'q', lastBackup: '000001-20300101T000000Z', lastBackupAt: ago(5) };

function withEtcd(etcd: object, more: object = {}, conditions: readonly object[] = []) {
  const status = { conditions, hosted: { etcd: { members: 1, ready: 1, ...etcd }, ...more } };
  return hostedCluster({ status: status as never });
}

describe('a backup that a person asks for', () => {
  it('is the one that answers the request, and no other one', () => {
    expect(takenFor(withEtcd(TAKEN), 'q')).toEqual({
      cluster: 'ci',
      name: '000001-20300101T000000Z',
      takenAt: ago(5),
    });
    expect(takenFor(withEtcd(TAKEN), 'another')).toBeUndefined();
    expect(takenFor(hostedCluster(), 'q')).toBeUndefined();
  });

  it('has why it was not taken in time, as far as hosting has told', () => {
    const waiting = { reason: 'Paused', message: 'spec.paused is set', since: ago(5) };
    expect(notTaken(withEtcd({}, { waiting }, [CONDITION])).message).toContain('spec.paused is set');
    expect(notTaken(withEtcd({}, {}, [CONDITION])).message).toContain('the disk is full');
    expect(notTaken(hostedCluster()).message).toContain('start one with kubenode hosting');
  });

  it('does not exist for a cluster that the hub only syncs', () => {
    const { hosted: _, ...spec } = hostedCluster().spec;
    expect(() => requireHosted({ ...hostedCluster(), spec })).toThrow('Cluster ci is not hosted');
    expect(() => requireHosted(hostedCluster())).not.toThrow();
  });
});
