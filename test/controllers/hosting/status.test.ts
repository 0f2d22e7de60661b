import { describe, expect, it } from 'vitest';
import { hostingStatus, unobservedStatus } from '../../../src/controllers/hosting/status.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { severalMembers } from '../../support/hosting/etcd.ts';
import { hostedCluster, hostingInput, LOCATION, members, NOTHING } from '../../support/hosting/objects.ts';

const WAIT = {
  reason: 'MemberStarting',
  message: 'etcd',
  blocker: { kind: 'Process', name: 'etcd' },
  isStalled: false,
};

function status(parts: Parameters<typeof hostingInput>[0] = {}, wait?: typeof WAIT) {
  return hostingStatus(hostingInput(parts), wait);
}

describe('the status of a hosted control plane', () => {
  it('has the members, the serials that clients see, and when it was ready first', () => {
    const { hosted } = status();
    expect(hosted?.readyAt).toBe(NOW.toISOString().replace('.000', ''));
    expect(hosted?.components?.map((each) => `${each.name} ${each.ready}/${each.desired}`)).toEqual([
      'etcd 1/1',
      'kube-apiserver 1/1',
      'kube-controller-manager 1/1',
      'kube-scheduler 1/1',
      'kubenode-controllers 1/1',
    ]);
    expect(hosted?.certificates?.map((each) => `${each.name} ${each.serial}`)).toEqual([
      'etcd A1',
      'kube-apiserver A1',
      'kube-controller-manager A1',
      'kube-scheduler A1',
      'sync undefined',
      'ca undefined',
    ]);
    expect(hosted?.etcd).toEqual({ members: 1, ready: 1 });
  });

  it('counts the members of etcd, and has the version that all of them run', () => {
    const but = {
      'etcd-1': { version: 'v3.6.10' },
      'etcd-2': { version: 'v3.6.9', state: 'Stopped' },
    } as const;
    const space = { quotaBytes: 64e6, dbBytes: 5e6, inUseBytes: 4e6, isFull: false };
    const backup = { backups: [{ name: '000001-20300101T000000Z', takenAt: NOW }] };
    const several = severalMembers({ but: { ...but, etcd: { version: 'v3.6.10' } } });
    const { hosted } = status({ plane: { ...several, space, backup } });
    expect(hosted?.components?.[0]).toEqual({ name: 'etcd', version: 'v3.6.9', ready: 2, desired: 3 });
    expect(hosted?.components).toHaveLength(5);
    expect(hosted?.etcd).toEqual({
      members: 3,
      ready: 2,
      dbBytes: 5e6,
      lastBackup: '000001-20300101T000000Z',
      lastBackupAt: wholeSeconds(NOW),
    });
  });

  it('keeps when it was ready first, also while it is not', () => {
    const before = { conditions: [], hosted: { readyAt: ago(900) } };
    expect(status({ status: before }).hosted?.readyAt).toBe(ago(900));
    const down = { plane: { members: members({ etcd: { state: 'Stopped' } }) }, status: before } as const;
    expect(status(down).hosted?.readyAt).toBe(ago(900));
    expect(status({ plane: NOTHING }).hosted?.readyAt).toBeUndefined();
  });

  it('records where the control plane is before it is created, and keeps it', () => {
    const nothing = hostingInput({ plane: NOTHING });
    const act = { type: 'RecordLocation', because: 'x' } as const;
    const finalizer = { type: 'AddFinalizer', because: 'x' } as const;
    expect(hostingStatus(nothing, undefined, finalizer).hosted?.location).toBeUndefined();
    expect(hostingStatus(nothing, undefined, act).hosted?.location).toBe(LOCATION);
    const before = { conditions: [], hosted: { location: 'there:/ci' } };
    expect(status({ plane: NOTHING, status: before }).hosted?.location).toBe('there:/ci');
    expect(status({ status: before }).hosted?.location).toBe(LOCATION);
  });

  it('keeps what was observed when the control plane cannot be observed, and tells why', () => {
    const { conditions, hosted } = status();
    const cluster = hostedCluster({ status: { conditions: [...(conditions ?? [])], hosted } as never });
    const found = unobservedStatus({ cluster, now: NOW }, { ...WAIT, isStalled: true });
    expect(found.hosted).toMatchObject({ ...hosted, waiting: { reason: 'MemberStarting' } });
    const texts = found.conditions?.map((each) => `${each?.type} ${each?.status}`);
    expect(texts).toContain('ControlPlaneReady Unknown');
    expect(texts).toContain('ControlPlaneStalled True');
    expect(texts).toContain('EtcdReady True');
  });

  it('keeps since when it waits for the same', () => {
    const waiting = { reason: 'MemberStarting', blocker: WAIT.blocker, since: ago(60) };
    expect(status({ status: { conditions: [], hosted: { waiting } } }, WAIT).hosted?.waiting?.since).toBe(
      ago(60),
    );
    expect(status({ status: { conditions: [], hosted: { waiting } } }).hosted?.waiting).toBeUndefined();
  });

  it('holds its own conditions only: those of sync have another writer', () => {
    const conditions = [condition('Synced', 'True'), condition('EtcdReady', 'True')];
    const { conditions: found } = status({ status: { conditions } });
    expect(found?.map((each) => each?.type).toSorted()).toEqual([
      'AddonsReady',
      'CertificatesValid',
      'ControlPlaneReady',
      'ControlPlaneStalled',
      'ControlPlaneUpToDate',
      'EtcdReady',
    ]);
  });
});
