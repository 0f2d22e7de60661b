import { describe, expect, it } from 'vitest';
import { planePolicies } from '../../../../../../src/controllers/hosting/drivers/workload/objects/network.ts';
import { snapshotJob } from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/job.ts';
import { listAt, textAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const JOB = snapshotJob({
  cluster: 'ci',
  member: 'etcd',
  address: '10.0.0.2',
  takenAt: new Date('2030-01-01T12:00:00Z'),
  images: { etcd: 'etcd@sha256:1', kubenode: 'kubenode@sha256:2' },
  versions: { etcd: 'v3.6.5', kubernetes: 'v1.35.4' },
  priorityClass: 'system-cluster-critical',
});
const POD = valueAt(JOB, 'spec', 'template', 'spec');
const CONTAINERS = [...listAt(POD, 'initContainers'), ...listAt(POD, 'containers')];

function mounts(container: unknown): readonly string[] {
  return listAt(container, 'volumeMounts').map(
    (each) => `${textAt(each, 'name')}${valueAt(each, 'readOnly') === true ? ' read only' : ''}`,
  );
}

function labels(part: string): object {
  return { matchLabels: { 'kubenode.dev/part': part } };
}

describe('snapshotJob', () => {
  it('HOS-31 copies, opens and counts, in this order, and is not tried again by the hub', () => {
    expect(CONTAINERS.map((each) => [textAt(each, 'name'), textAt(each, 'image')])).toEqual([
      ['copy', 'kubenode@sha256:2'],
      ['etcd', 'etcd@sha256:1'],
      ['verify', 'kubenode@sha256:2'],
    ]);
    expect(valueAt(JOB, 'spec')).toMatchObject({ backoffLimit: 0, activeDeadlineSeconds: 1800 });
    expect(listAt(CONTAINERS[1], 'args')).toContain('--force-new-cluster');
    expect(listAt(CONTAINERS[0], 'args')).toContain('--url=https://10.0.0.2:2379');
  });

  it('HOS-31 reads the data of the etcd that serves, on its node, and cannot write them', () => {
    expect(CONTAINERS.map(mounts)).toEqual([
      ['client read only', 'data read only', 'snapshots', 'tmp'],
      ['pki read only', 'snapshots', 'tmp'],
      ['client read only', 'snapshots', 'tmp'],
    ]);
    expect(listAt(POD, 'volumes')).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'etcd', readOnly: true },
    });
    expect(valueAt(POD, 'affinity', 'podAffinity')).toMatchObject({
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { 'kubenode.dev/part': 'etcd' } },
        },
      ],
    });
  });

  it('HOS-43 has neither root nor a token of the hub, and a memory limit in each container', () => {
    expect(POD).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000 },
    });
    for (const each of CONTAINERS) {
      expect(each).toMatchObject({
        securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        resources: { limits: { memory: expect.stringMatching(/Mi$/) as string } },
      });
    }
  });

  it('HOS-43 may connect to etcd and to nothing else, and nothing connects to it', () => {
    const [inward, own] = ['etcd-snapshot-to-etcd', 'etcd-snapshot'].map((name) =>
      planePolicies(planeRecord()).find(({ metadata }) => metadata.name === name),
    );
    const ports = [{ port: 2379, protocol: 'TCP' }];
    expect(inward?.['spec']).toMatchObject({
      podSelector: labels('etcd'),
      ingress: [{ from: [{ podSelector: labels('etcd-snapshot') }], ports }],
    });
    expect(own?.['spec']).toMatchObject({
      podSelector: labels('etcd-snapshot'),
      ingress: [],
      egress: [{ to: [{ podSelector: labels('etcd') }], ports }],
    });
  });
});
