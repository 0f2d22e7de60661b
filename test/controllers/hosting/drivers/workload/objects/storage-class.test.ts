import { describe, expect, it } from 'vitest';
import {
  type NamedClasses,
  otherClasses,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/storage-class.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

type Found = Parameters<typeof otherClasses>[0];

function found(claims: Readonly<Record<string, string | undefined>>): Found {
  const objects = Object.entries(claims).map(([name, storageClassName]): [string, KubeObject] => [
    name,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { storageClassName },
    },
  ]);
  const record = planeRecord({ etcd: { replicas: 3, storageGiB: 8, quotaMiB: 2048 } });
  return { owner: { name: 'ci', uid: 'u' }, record, objects: { claims: new Map(objects) } } as never;
}

const NAMED = { storageClass: 'fast', backupStorageClass: 'kept' };

describe('the StorageClass of the claims of a control plane', () => {
  it.each<readonly [string, Record<string, string | undefined>, NamedClasses, readonly string[]]>([
    ['all have the one that is named', { etcd: 'fast', 'etcd-backups': 'kept' }, NAMED, []],
    ['none is named', { etcd: 'slow', 'etcd-backups': 'deleted' }, {}, []],
    ['there is no claim', {}, NAMED, []],
    ['a volume of etcd has another one', { etcd: 'slow' }, NAMED, ['kn-ci/etcd slow fast']],
    [
      'a claim has none',
      { etcd: '', 'etcd-snapshot': undefined },
      NAMED,
      ['kn-ci/etcd - fast', 'kn-ci/etcd-snapshot - fast'],
    ],
    [
      'the backups have another one',
      { etcd: 'fast', 'etcd-backups': 'fast' },
      NAMED,
      ['kn-ci/etcd-backups fast kept'],
    ],
  ])('HOS-06 is right or is named where %s', (_, claims, named, expected) => {
    const differing = otherClasses(found(claims), named) ?? [];
    expect(differing.map((each) => `${each.claim} ${each.found ?? '-'} ${each.expected}`)).toEqual(expected);
  });
});
