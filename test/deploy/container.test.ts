import { describe, expect, it } from 'vitest';
import { CONTROLLERS, HOSTING, SYNC } from '../../src/deploy/programs.ts';
import { renderWorkload } from '../../src/deploy/workload.ts';
import { listAt, textAt, valueAt } from '../../src/kube/objects/json.ts';

const settings = { image: 'registry.example.com/kubenode:1.2.3', replicas: 3, egressPorts: [] };

/** Names of volumes by the path at which the container has them. */
function mountsOf(...parts: Parameters<typeof renderWorkload>): Readonly<Record<string, string>> {
  const deployment = renderWorkload(...parts).find(({ kind }) => kind === 'Deployment');
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
  const mounts = listAt(container, 'volumeMounts');
  return Object.fromEntries(
    mounts.map((each) => [textAt(each, 'mountPath') ?? '', textAt(each, 'name') ?? '']),
  );
}

describe('the folders of a container', () => {
  const own = { '/var/cache/kubenode': 'cache', '/tmp': 'tmp' };

  it('are those that it writes, and no Secret that it does not need', () => {
    expect(mountsOf(CONTROLLERS, settings)).toEqual(own);
    expect(mountsOf(SYNC, { ...settings, notifications: 'receivers' })).toEqual(own);
  });

  it('are the file of its configuration, and the files of its Secret', () => {
    expect(mountsOf(HOSTING, { ...settings, config: 'a' })).toEqual({ ...own, '/etc/kubenode': 'config' });
    expect(mountsOf(CONTROLLERS, { ...settings, notifications: 'receivers' })).toEqual({
      ...own,
      '/etc/kubenode-notifications': 'secret',
    });
  });
});

describe('the receivers of notices', () => {
  const parts = { ...settings, notifications: 'receivers' };

  it('are files of a Secret for the controllers, which may connect to HTTPS and ask for names', () => {
    const objects = renderWorkload(CONTROLLERS, parts);
    const pod = valueAt(
      objects.find(({ kind }) => kind === 'Deployment'),
      'spec',
      'template',
      'spec',
    );
    const [found] = listAt(pod, 'containers');
    expect(listAt(found, 'args').join(' ')).toContain(
      ' --notifications /etc/kubenode-notifications/notifications.yaml ',
    );
    expect(listAt(pod, 'volumes')).toContainEqual({ name: 'secret', secret: { secretName: 'receivers' } });
    expect(listAt(found, 'volumeMounts')).toContainEqual({
      name: 'secret',
      mountPath: '/etc/kubenode-notifications',
      readOnly: true,
    });
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
    const [rule] = listAt(policy, 'spec', 'egress');
    const ports = listAt(rule, 'ports').map(
      (port) => `${textAt(port, 'protocol')} ${Number(valueAt(port, 'port'))}`,
    );
    expect(ports).toEqual(expect.arrayContaining(['TCP 443', 'UDP 53']));
  });

  it('are nothing to sync, which has none', () => {
    expect(renderWorkload(SYNC, parts)).toEqual(renderWorkload(SYNC, settings));
  });
});
