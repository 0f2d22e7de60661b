import { expect, it, onTestFinished } from 'vitest';
import { createConfigSource } from '../../../../../src/controllers/following/clusterapi/observe/config-source.ts';
import type { Client } from '../../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../../src/kube/client/errors.ts';
import type { Resource } from '../../../../../src/kube/objects/object.ts';
import { createMemoryApi } from '../../../../support/controller/memory-api.ts';
import { memoryLog } from '../../../../support/memory-log.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';

const CONFIGS: Resource = {
  group: 'bootstrap.cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'KubeadmConfig',
  plural: 'kubeadmconfigs',
  namespaced: true,
};
const OBJECT = {
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmConfig',
  metadata: { namespace: 'fleet', name: 'md-1' },
  spec: { files: [{ path: '/a', content: 'a' }] },
};

it('CAP-18 reads the digests of KubeadmConfigs once they are served and permitted, and nothing before', async () => {
  const clock = virtualClock();
  const log = memoryLog();
  const api = createMemoryApi({ clock, kinds: [{ resource: CONFIGS }] });
  const real = api.connection().client();
  let isServed = false;
  let isForbidden = false;
  const client = {
    ...real,
    resourceFor: async () => {
      await Promise.resolve();
      if (!isServed) throw new KubeError('NotFound', 'not served');
      return CONFIGS;
    },
    pages: async function* (resource: Resource, options: object) {
      if (isForbidden) throw new KubeError('Forbidden', 'forbidden');
      yield* real.pages(resource, options);
    },
  } as unknown as Client;
  await real.create(CONFIGS, OBJECT);
  const source = createConfigSource({ client, clock, log, random: () => 0 });
  const reasons = (): readonly unknown[] =>
    log.lines
      .filter(({ message }) => message === 'kubeadm configs of cluster api are not read')
      .map(({ level, fields }) => `${level} ${String(fields['because'])}`);
  let changes = 0;
  onTestFinished(source.open(() => (changes += 1)));
  await clock.advance(1000);
  expect(source.read()).toBeUndefined();
  isServed = true;
  isForbidden = true;
  await clock.advance(20_000);
  expect([source.read(), source.read()]).toEqual([undefined, undefined]);
  expect(reasons()).toEqual([
    'info the API server does not serve KubeadmConfigs of bootstrap.cluster.x-k8s.io',
    'warn the kubeadmconfigs of Cluster API cannot be read: Forbidden. Run kubenode install with --update-extension',
  ]);
  isForbidden = false;
  await clock.advance(120_000);
  const [config] = source.read() ?? [];
  expect(config).toMatchObject({ namespace: 'fleet', name: 'md-1', isUpdating: false });
  expect(Object.keys(config?.files ?? {})).toEqual(['/a']);
  expect(changes).toBeGreaterThan(0);
});
