import { describe, expect, it } from 'vitest';
import {
  memberVolumeData,
  requireData,
  volumeData,
} from '../../../../../src/controllers/hosting/drivers/workload/data.ts';
import type { FoundPlane } from '../../../../../src/controllers/hosting/drivers/workload/hub.ts';
import { volumeClaim } from '../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import {
  type WorkloadRecord,
  withLoss,
  withNewMember,
  withRun,
  withStart,
  withStop,
} from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../support/builders.ts';
import { HOSTED } from '../../../../support/hosting/objects.ts';
import { WITHOUT_DATA } from '../../../../support/hosting/pod-player.ts';
import { IMAGE, planeRecord } from '../../../../support/hosting/workload.ts';

const OWNER = { name: 'ci', uid: 'uid-ci' };
const OWN = volumeClaim(OWNER, { storageGiB: 8, storageClass: undefined });
const OTHERS = volumeClaim({ name: 'ci', uid: 'another' }, { storageGiB: 8, storageClass: undefined });
const STARTED = withStart(planeRecord(), 'etcd', { at: NOW, image: IMAGE });
const SEALED: WorkloadRecord = { ...STARTED, isSealed: true };

function etcdPod(message: string, ready = 'False'): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'etcd', uid: 'sts', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'etcd-0',
      labels: { 'kubenode.dev/part': 'etcd', 'kubenode.dev/cluster': 'ci' },
      ownerReferences: [owner],
    },
    status: {
      conditions: [{ type: 'Ready', status: ready }],
      containerStatuses: [{ restartCount: 2, lastState: { terminated: { exitCode: 1, message } } }],
    },
  };
}

function plane(
  claim: KubeObject | undefined,
  record: WorkloadRecord,
  pods: readonly KubeObject[] = [],
): FoundPlane {
  const none = new Map<string, KubeObject>();
  return {
    owner: OWNER,
    where: 'namespace kn-ci',
    claim: 'Own',
    namespace: undefined,
    record,
    keys: {},
    objects: {
      keySecrets: none,
      configMaps: none,
      services: none,
      claims: claim ? new Map([['etcd', claim]]) : none,
      policies: none,
      budgets: none,
      workloads: none,
      pods,
    },
  };
}

describe('volumeData', () => {
  it.each<[name: string, found: FoundPlane, want: string]>([
    ['has none before the first start', plane(OWN, planeRecord()), 'Empty'],
    ['is its own from the first start on', plane(OWN, STARTED), 'Own'],
    ['was lost with its claim', plane(undefined, STARTED), 'Empty'],
    ['is of others in a claim without our mark', plane(OTHERS, STARTED), 'Other'],
    [
      'was lost with the volume behind the claim',
      plane({ ...OWN, status: { phase: 'Lost' } }, STARTED),
      'Empty',
    ],
    ['was wiped when etcd tells so', plane(OWN, SEALED, [etcdPod(WITHOUT_DATA)]), 'Empty'],
    ['was restored when etcd is ready after it', plane(OWN, SEALED, [etcdPod(WITHOUT_DATA, 'True')]), 'Own'],
    ['is there when etcd ends for another reason', plane(OWN, SEALED, [etcdPod('no space left')]), 'Own'],
  ])('%s', (_name, found, want) => {
    expect(volumeData(found)).toBe(want);
  });
});

describe('requireData', () => {
  it('HOS-06 lets etcd start on its own volume, and on none before it had one', () => {
    expect(() => requireData(plane(OWN, STARTED), 'etcd')).not.toThrow();
    expect(() => requireData(plane(undefined, planeRecord()), 'etcd')).not.toThrow();
  });

  it('HOS-06 refuses a start where the volume is missing or of others', () => {
    expect(() => requireData(plane(undefined, STARTED), 'etcd')).toThrow(
      'is missing, and etcd had data in it',
    );
    expect(() => requireData(plane(OTHERS, STARTED), 'etcd')).toThrow('data of another control plane');
  });
});

describe('the volumes of an etcd with several members', () => {
  const THREE = planeRecord({ etcd: { ...HOSTED.etcd, replicas: 3 } });
  const members = ['etcd', 'etcd-1', 'etcd-2'] as const;
  const started = members.reduce((record, member) => withStart(record, member, { at: NOW, image: IMAGE }), {
    ...THREE,
    isSealed: true,
  });

  /** Without the claims of these members. */
  function without(...missing: readonly string[]): FoundPlane {
    const parts = { storageGiB: 8, storageClass: undefined };
    const claims = members
      .filter((member) => !missing.includes(member))
      .map((member) => [member, volumeClaim(OWNER, parts, member)] as const);
    const found = plane(undefined, started);
    return { ...found, objects: { ...found.objects, claims: new Map(claims) } };
  }

  it.each<[missing: readonly string[], expected: string]>([
    [[], 'Own: Own Own Own'],
    [['etcd'], 'Own: Empty Own Own'],
    [['etcd-1', 'etcd-2'], 'Empty: Own Empty Empty'],
  ])('HOS-33 tells without the claims of %j', (missing, expected) => {
    const found = without(...missing);
    const each = members.map((member) => memberVolumeData(found, member));
    expect(`${volumeData(found)}: ${each.join(' ')}`).toBe(expected);
  });

  it('HOS-33 lets others start without one of three, and starts nothing without two', () => {
    expect(() => requireData(without('etcd-1'), 'etcd-2')).not.toThrow();
    expect(() => requireData(without('etcd-1'), 'kube-apiserver')).not.toThrow();
    expect(() => requireData(without('etcd-1'), 'etcd-1')).toThrow('kn-ci/etcd-1 is missing');
    expect(() => requireData(without('etcd-1', 'etcd-2'), 'kube-apiserver')).toThrow('is missing');
    expect(() => requireData(without('etcd-1', 'etcd-2'), 'etcd')).toThrow('is missing');
  });

  it('HOS-33 knows that a member has data whose starts were forgotten by a change while it was stopped', () => {
    const change = { run: { flags: {} }, image: 'other', at: NOW };
    const changed = withRun(withStop(started, 'etcd-1'), 'etcd-1', change);
    expect(changed.members['etcd-1']?.starts).toEqual([]);
    expect(memberVolumeData({ ...without(), record: changed }, 'etcd-1')).toBe('Own');
    const missing = { ...without('etcd-1'), record: changed };
    expect(() => requireData(missing, 'etcd-1')).toThrow('kn-ci/etcd-1 is missing');
    expect(withNewMember(changed, 'etcd-1').members['etcd-1']).not.toHaveProperty('hasData');
  });

  it('HOS-33 forgets that a volume was emptied when its claim was restored as another one', () => {
    const record = withLoss(started, 'etcd-1', 'uid-1');
    expect(withLoss(record, 'etcd-1', 'uid-1')).toBe(record);
    const withClaim = (uid: string): FoundPlane => {
      const found = { ...without(), record };
      const claim = found.objects.claims.get('etcd-1') ?? OWN;
      const restored = { ...claim, metadata: { ...claim.metadata, uid } };
      return { ...found, objects: { ...found.objects, claims: new Map([['etcd-1', restored]]) } };
    };
    expect(memberVolumeData(withClaim('uid-1'), 'etcd-1')).toBe('Empty');
    expect(memberVolumeData(withClaim('uid-2'), 'etcd-1')).toBe('Own');
    expect(withLoss(record, 'etcd-1', 'uid-2').members['etcd-1']?.lostClaim).toBe('uid-2');
  });

  it('HOS-33 remembers a volume that was emptied when the pod that showed it has ended, until the member is new', () => {
    const lost = { ...without(), record: withLoss(started, 'etcd-1', undefined) };
    expect(memberVolumeData(lost, 'etcd-1')).toBe('Empty');
    const again = withNewMember(withLoss(started, 'etcd-1', undefined), 'etcd-1');
    expect(again.members['etcd-1']).toEqual({ isRunning: false, starts: [], image: IMAGE });
    const next = withStart(again, 'etcd-1', { at: NOW, image: IMAGE });
    expect(memberVolumeData({ ...without(), record: next }, 'etcd-1')).toBe('Own');
    expect(withNewMember(again, 'etcd-1')).toBe(again);
  });
});
