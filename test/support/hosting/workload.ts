/** Builders for control planes of pods. */

import type { PlaneSpec } from '../../../src/controllers/hosting/drivers/driver.ts';
import type { WorkloadImages } from '../../../src/controllers/hosting/drivers/workload/images.ts';
import type { PodParts } from '../../../src/controllers/hosting/drivers/workload/objects/pods.ts';
import { newRecord, type WorkloadRecord } from '../../../src/controllers/hosting/drivers/workload/record.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { planeOf } from '../../../src/controllers/hosting/plan/plane-of.ts';
import { ETCD_VERSION, HOSTED, hostedCluster, VERSION } from './objects.ts';

export const IMAGE = `registry.example/program@sha256:${'a'.repeat(64)}`;

export function workloadImages(version = VERSION): WorkloadImages {
  const images = {
    etcd: IMAGE,
    'kube-apiserver': IMAGE,
    'kube-controller-manager': IMAGE,
    'kube-scheduler': IMAGE,
  };
  return {
    versions: [{ version, etcdVersion: ETCD_VERSION, images }],
    kubenode: IMAGE,
    priorityClass: 'system-cluster-critical',
  };
}

export function workloadSpec(hosted: Partial<Hosted> = {}): PlaneSpec {
  const all: Hosted = { ...HOSTED, driver: 'workload', ...hosted };
  return planeOf(hostedCluster({ hosted: all }), all);
}

export function planeRecord(hosted: Partial<Hosted> = {}): WorkloadRecord {
  return newRecord(workloadSpec(hosted), ETCD_VERSION);
}

export function podParts(record: WorkloadRecord = planeRecord()): PodParts {
  return {
    plane: record,
    image: IMAGE,
    priorityClass: workloadImages().priorityClass,
    version: VERSION,
    run: 'sha256:run',
    addresses: { etcd: ['10.0.0.2'], apiServer: '10.0.0.3' },
  };
}
