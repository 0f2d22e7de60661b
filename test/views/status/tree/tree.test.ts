import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { summarizeHub } from '../../../../src/views/status/hub-status.ts';
import { type ClusterTree, treeOf } from '../../../../src/views/status/tree/tree.ts';
import { cluster, NOW } from '../../../cli/commands/builders.ts';

const SINCE = '2030-01-01T11:00:00Z';

const PAUSE = { name: 'release-halt.web', unit: 'web', by: 'anna', reason: 'ticket 7', since: SINCE };

function tree(sync: object, status: object = {}, pauses: readonly object[] = []): ClusterTree {
  const built = cluster({ state: 'Applying', since: SINCE, message: 'applies', ...sync });
  const whole = { ...built, spec: { pauses }, status: { ...built.status, ...status } } as Cluster;
  const [row] = summarizeHub({ pipelines: [], clusters: [whole], releases: [] }, { now: NOW }).clusters;
  if (!row) throw new Error('no row');
  return treeOf(whole, row, NOW);
}

const condition = (type: string, status: string, message: string): object => ({
  type,
  status,
  reason: 'Why',
  message,
  lastTransitionTime: SINCE,
});

describe('treeOf', () => {
  it('shows a paused unit with who paused it, why, what differs and the command that resumes it', () => {
    const failures = [
      { object: 'ConfigMap a', unit: 'web', reason: 'UnitPaused', message: 'update: changed' },
    ];
    const paused = { state: 'Paused', failures, waiting: 'x' };
    const { units, unblock } = tree(paused, { waiting: { reason: 'UnitPaused', since: SINCE } }, [PAUSE]);
    expect(units).toMatchObject([
      {
        names: ['web'],
        state: 'Paused',
        since: SINCE,
        because: 'by anna: ticket 7',
        unblock: 'kubenode release resume <pipeline> --cluster prod --unit web',
        objects: [{ names: ['ConfigMap a'], state: 'UnitPaused', because: 'update: changed' }],
      },
    ]);
    expect(unblock).toContain('for each unit that is paused');
    expect(tree({ state: 'Proven' }, {}, [PAUSE]).units).toMatchObject([{ names: ['web'], state: 'Paused' }]);
    expect(tree({ state: 'Proven' }, {}, [{ ...PAUSE, unit: undefined }]).units).toEqual([]);
  });

  it('shows a paused object beside its unit, with the command that resumes it', () => {
    const { unit: _unit, ...whole } = PAUSE;
    const pause = { ...whole, object: 'Deployment/shop/web', until: '2030-01-02T00:00:00Z' };
    const failures = [
      { object: 'apps/Deployment shop/web', unit: 'web', reason: 'ObjectPaused', message: 'update: changed' },
    ];
    const waiting = { reason: 'ObjectPaused', since: SINCE };
    const { units, unblock } = tree({ state: 'Paused', failures }, { waiting }, [pause]);
    expect(units).toMatchObject([
      {
        names: ['Deployment/shop/web'],
        state: 'Paused',
        because: 'by anna until 2030-01-02T00:00:00Z: ticket 7',
        unblock: 'kubenode release resume <pipeline> --cluster prod --object Deployment/shop/web',
      },
      {
        names: ['web'],
        state: 'not as in git',
        objects: [{ state: 'ObjectPaused', unblock: 'no action required once the object is resumed' }],
      },
    ]);
    expect(unblock).toContain('for each object that is paused');
  });

  it('counts the objects that match git', () => {
    const { objects, units } = tree({ state: 'Proven', objects: { total: 3, applied: 3, failed: 0 } });
    expect(objects).toEqual([
      { names: [], count: 3, state: 'Applied', because: '3 objects as in git', unblock: '' },
    ]);
    expect(units).toEqual([]);
  });

  it('groups objects that fail for the same reason, with since when and what unblocks them', () => {
    const failures = ['Deployment web/a', 'Deployment web/b'].map((object) => ({
      object,
      reason: 'Waiting',
      message: `${object} waits for Namespace web`,
    }));
    const other = { object: 'Service web/c', reason: 'Invalid', message: 'port 0' };
    const conditions = [condition('Synced', 'False', 'applies')];
    const { objects } = tree(
      { failures: [...failures, other], objects: { total: 9, applied: 4, failed: 5 } },
      { conditions },
    );
    expect(objects).toMatchObject([
      { names: ['Deployment web/a', 'Deployment web/b'], count: 2, state: 'Waiting', since: SINCE },
      {
        names: ['Service web/c'],
        state: 'Invalid',
        unblock: 'fix the object and commit, or revert the commit',
      },
      { names: [], count: 2, state: 'Failed', because: 'not listed' },
      { names: [], count: 4, state: 'Applied' },
    ]);
  });

  it('shows units whose deletes are held, with the command that releases them', () => {
    const held = [
      { unit: 'web', planDigest: 'sha256:1' },
      { unit: 'shop', planDigest: 'sha256:2' },
    ];
    expect(tree({ state: 'Held', held }).units).toEqual([
      {
        names: ['shop', 'web'],
        count: 2,
        state: 'Held',
        because: 'deletes are held',
        since: SINCE,
        unblock: 'kubenode release acknowledge prod --reason TEXT, which prints what to commit',
      },
    ]);
  });

  it('shows objects that failed under their unit, once, with what else the unit waits for', () => {
    const failures = ['web', 'shop', 'web'].map((unit, index) => ({
      object: `Service web/${index}`,
      unit,
      reason: 'Invalid',
      message: `port ${index}`,
    }));
    const held = ['web', 'cache'].map((unit) => ({ unit, planDigest: 'sha256:1' }));
    const { units, objects } = tree({ failures, held, objects: { total: 9, applied: 4, failed: 5 } });
    expect(units).toMatchObject([
      { names: ['cache'], count: 1, state: 'Held' },
      { names: ['shop'], state: 'not as in git', objects: [{ names: ['Service web/1'], state: 'Invalid' }] },
      {
        names: ['web'],
        state: 'Held',
        because: 'deletes are held',
        objects: [{ names: ['Service web/0'] }, { names: ['Service web/2'] }],
      },
    ]);
    expect(objects).toMatchObject([
      { count: 2, state: 'Failed', because: 'not listed' },
      { count: 4, state: 'Applied' },
    ]);
  });

  it('shows objects that failed after they were applied under their unit, too, since they are unhealthy', () => {
    const failed = { reason: 'ProgressDeadlineExceeded', message: 'no image' };
    const unhealthy = ['web', 'shop'].map((unit) => ({ object: `Deployment ${unit}/a`, unit, ...failed }));
    const failures = [{ object: 'Service web/b', unit: 'web', reason: 'Invalid', message: 'port 0' }];
    const { units } = tree(
      { failures, unhealthy },
      { conditions: [condition('Healthy', 'False', 'no image')] },
    );
    expect(units).toMatchObject([
      {
        names: ['shop'],
        state: 'unhealthy',
        objects: [{ names: ['Deployment shop/a'], state: failed.reason, because: 'no image', since: SINCE }],
      },
      {
        names: ['web'],
        state: 'not as in git',
        objects: [{ names: ['Service web/b'] }, { names: ['Deployment web/a'] }],
      },
    ]);
  });

  it('shows units that soak, those that began together as one, and none once they are proven', () => {
    const clocks = [
      { unit: 'a', digest: '1', since: SINCE },
      { unit: 'b', digest: '2', since: SINCE },
      { unit: '*', digest: '3', since: '2030-01-01T11:30:00Z' },
    ];
    expect(tree({ state: 'Soaking', soak: { clocks } }).units).toMatchObject([
      { names: ['a', 'b'], state: 'Soaking', since: SINCE },
      { names: ['all units'], state: 'Soaking', since: '2030-01-01T11:30:00Z' },
    ]);
    expect(tree({ state: 'Proven', soak: { clocks } }).units).toEqual([]);
  });

  it('shows conditions that are not True, unless the cluster tells the same', () => {
    const conditions = [
      condition('Reachable', 'True', 'it answers'),
      condition('Healthy', 'False', 'Deployment web/a: image not found'),
      condition('IdentityVerified', 'Unknown', ''),
      condition('Synced', 'False', 'applies'),
    ];
    expect(tree({}, { conditions }).conditions).toMatchObject([
      { names: ['IdentityVerified'], state: 'IdentityVerified=Unknown', because: 'Why' },
      {
        names: ['Healthy'],
        state: 'Healthy=False',
        because: 'Deployment web/a: image not found',
        since: SINCE,
      },
    ]);
  });

  it('tells what ends the wait of the cluster, by its reason', () => {
    const waiting = { reason: 'StageBefore', since: SINCE, message: 'waits' };
    expect(tree({ state: 'Pending' }, { waiting }).unblock).toContain('the stage before');
  });
});
