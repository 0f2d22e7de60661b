import { describe, expect, it } from 'vitest';
import { MEMBERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { podTemplate } from '../../../../../../src/controllers/hosting/drivers/workload/objects/pods.ts';
import { listAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import { IMAGE, planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

function podSpec(member: (typeof MEMBERS)[number], record = planeRecord()): unknown {
  return valueAt(podTemplate(member, podParts(record)), 'spec');
}

function container(member: (typeof MEMBERS)[number], record = planeRecord()): unknown {
  return listAt(podSpec(member, record), 'containers')[0];
}

describe('podTemplate', () => {
  it.each(MEMBERS)('HOS-43 runs %s without root, token, capabilities and a writable root', (member) => {
    expect(podSpec(member)).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: 'system-cluster-critical',
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container(member)).toMatchObject({
      image: IMAGE,
      securityContext: {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
    expect(valueAt(podSpec(member), 'hostNetwork')).toBeUndefined();
  });

  it('HOS-43 lets only the file of kube-apiserver have the capability that it was built with', () => {
    const added = MEMBERS.filter(
      (member) => valueAt(container(member), 'securityContext', 'capabilities', 'add') !== undefined,
    );
    expect(added).toEqual(['kube-apiserver']);
  });

  it.each(MEMBERS)(
    'HOS-20 mounts in %s its own Secrets, read-only, and never the one with all keys',
    (member) => {
      const secrets = listAt(podSpec(member), 'volumes').flatMap((volume) => {
        const name = valueAt(volume, 'secret', 'secretName');
        return name === undefined ? [] : [name];
      });
      expect(secrets).toEqual(member === 'kube-apiserver' ? [member, 'etcd-client'] : [member]);
      const mounts = listAt(container(member), 'volumeMounts');
      const writable = mounts.filter((mount) => valueAt(mount, 'readOnly') !== true);
      const folders = writable.map((mount) => valueAt(mount, 'mountPath'));
      expect(folders).toEqual(member === 'etcd' ? ['/tmp', '/var/lib/etcd'] : ['/tmp']);
    },
  );

  it('HOS-43 prefers another node for a second pod of the same member', () => {
    const path = ['affinity', 'podAntiAffinity', 'preferredDuringSchedulingIgnoredDuringExecution'] as const;
    const [term] = listAt(podSpec('etcd'), ...path);
    expect(valueAt(term, 'podAffinityTerm')).toMatchObject({
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchLabels: { 'kubenode.dev/cluster': 'ci', 'kubenode.dev/part': 'etcd' } },
    });
  });

  it('requests what the spec chooses, or a default, and limits memory to four times of it', () => {
    const record = planeRecord({ apiServer: { extraArgs: {}, cpuMillis: 700, memoryMiB: 1000 } });
    expect(valueAt(container('kube-apiserver', record), 'resources')).toMatchObject({
      requests: { cpu: '700m', memory: '1000Mi' },
      limits: { memory: '4000Mi' },
    });
    expect(valueAt(container('kube-scheduler', record), 'resources', 'requests')).toMatchObject({
      cpu: '25m',
      memory: '64Mi',
    });
  });

  it('starts our own image by its entry point, and the others by the name of their program', () => {
    expect(MEMBERS.map((member) => valueAt(container(member), 'command'))).toEqual([
      ['etcd'],
      ['kube-apiserver'],
      ['kube-controller-manager'],
      ['kube-scheduler'],
      undefined,
    ]);
  });

  it.each(MEMBERS)('is asked for the health of %s on a port that it has', (member) => {
    const ports = listAt(container(member), 'ports').map((port) => valueAt(port, 'containerPort'));
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(ports).toContain(valueAt(container(member), probe, 'httpGet', 'port'));
    }
  });
});
