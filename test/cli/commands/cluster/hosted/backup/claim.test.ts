import { describe, expect, it } from 'vitest';
import { claimBackups, claimTable } from '../../../../../../src/cli/commands/cluster/hosted/backup/claim.ts';
import { ANNOTATION_BACKUPS } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../../../../support/builders.ts';

const [FIRST, SECOND] = ['000001-20300101T000000Z', '000002-20300101T120000Z'] as const;
const CLAIM = 'kn-ci/etcd-backups';

function claim(annotation?: string): KubeObject {
  const annotations = annotation === undefined ? {} : { [ANNOTATION_BACKUPS]: annotation };
  const metadata = { name: 'etcd-backups', namespace: 'kn-ci', annotations };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
}

describe('the backups in a claim', () => {
  it('HOS-32 are those that hosting has listed, with the request that the newest answers', () => {
    const list = { names: [FIRST, SECOND], takenAt: ago(60), request: 'by hand' };
    expect(claimBackups(claim(JSON.stringify(list)))).toEqual({
      claim: CLAIM,
      backups: [
        { name: FIRST, takenAt: '2030-01-01T00:00:00.000Z' },
        { name: SECOND, takenAt: new Date(ago(60)).toISOString(), request: 'by hand' },
      ],
    });
  });

  it('HOS-32 are missing in a claim without a list, and unknown in one with a list that somebody edited', () => {
    expect(claimBackups(claim())).toEqual({ claim: CLAIM, backups: [] });
    expect(() => claimBackups(claim('000001'))).toThrow(/kn-ci\/etcd-backups is not a list of backups/);
  });

  it('HOS-32 have a row each, and why there is none', () => {
    const shown = { cluster: 'ci', now: NOW };
    const backups = [{ name: FIRST, takenAt: ago(7200) }];
    expect(claimTable({ claim: CLAIM, backups }, shown).rows).toEqual([[FIRST, '2h', '-']]);
    expect(claimTable({ claim: CLAIM, backups: [], reason: 'no class' }, shown).empty).toBe(
      'Cluster ci has no backup in PersistentVolumeClaim kn-ci/etcd-backups: no class',
    );
  });
});
