import { describe, expect, it } from 'vitest';
import { requireData, volumeData } from '../../../../../src/controllers/hosting/drivers/workload/data.ts';
import type { FoundPlane } from '../../../../../src/controllers/hosting/drivers/workload/hub.ts';
import { volumeClaim } from '../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import {
  type WorkloadRecord,
  withStart,
} from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../support/builders.ts';
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
    expect(() => requireData(plane(OWN, STARTED))).not.toThrow();
    expect(() => requireData(plane(undefined, planeRecord()))).not.toThrow();
  });

  it('HOS-06 refuses a start where the volume is missing or of others', () => {
    expect(() => requireData(plane(undefined, STARTED))).toThrow('is missing, and etcd had data in it');
    expect(() => requireData(plane(OTHERS, STARTED))).toThrow('data of another control plane');
  });
});
