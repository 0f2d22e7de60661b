import { describe, expect, it } from 'vitest';
import { API_SERVERS, MEMBERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
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

  it('HOS-43 prefers another node and another zone for a second API server, and requires neither', () => {
    const all = { 'kubenode.dev/cluster': 'ci', 'kubenode.dev/part': 'kube-apiserver' };
    for (const member of API_SERVERS) {
      const spec = valueAt(podTemplate(member, podParts()), 'spec');
      const [term] = listAt(
        spec,
        'affinity',
        'podAntiAffinity',
        'preferredDuringSchedulingIgnoredDuringExecution',
      );
      expect(valueAt(term, 'podAffinityTerm', 'labelSelector', 'matchLabels')).toEqual(
        expect.objectContaining(all),
      );
      expect(valueAt(term, 'podAffinityTerm', 'labelSelector', 'matchLabels')).not.toHaveProperty([
        'kubenode.dev/member',
      ]);
      expect(valueAt(spec, 'topologySpreadConstraints')).toMatchObject([
        {
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: all },
        },
      ]);
    }
  });

  it('HOS-13 gives a second API server the Secrets of the first one, and lets each end without an error', () => {
    const [first, second] = API_SERVERS.map((member) => podTemplate(member, podParts()));
    expect(valueAt(second, 'spec')).toEqual(valueAt(first, 'spec'));
    expect(valueAt(second, 'metadata', 'labels')).toEqual({
      ...(valueAt(first, 'metadata', 'labels') as object),
      'kubenode.dev/member': 'kube-apiserver-1',
    });
    const args = listAt(second, 'spec', 'containers', 0, 'args');
    expect(args).toContain('--shutdown-delay-duration=3s');
    expect(valueAt(second, 'spec', 'containers', 0, 'readinessProbe', 'httpGet', 'path')).toBe('/readyz');
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
