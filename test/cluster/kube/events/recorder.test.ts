/** Events on a real API server, which validates them strictly, and in the output of kubectl. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { EVENTS } from '../../../../src/kube/events/object.ts';
import {
  createEventRecorder,
  type EventRecorder,
  type Occurrence,
} from '../../../../src/kube/events/recorder.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { createMetrics } from '../../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../../src/kube/process/metrics-runtime.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { memoryLog } from '../../../support/memory-log.ts';

const NODES: Resource = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => {
  await server?.stop();
});
beforeEach(async () => {
  await server.wipe();
});

const metrics = createMetrics();
const counted = createRuntimeMetrics(metrics).events;

function createRecorder(instance: string): EventRecorder {
  return createEventRecorder({
    client: server.client,
    clock: createSystemClock(),
    random: () => 0.5,
    log: memoryLog(),
    metrics: counted,
    controller: 'kubenode.dev/machine',
    instance,
  });
}

async function node(name: string): Promise<KubeObject> {
  return await server.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
}

function rebooted(about: KubeObject): Occurrence {
  return { about, type: 'Warning', reason: 'Rebooted', action: 'Reboot', note: 'the kernel was hung' };
}

async function events(namespace = 'default'): Promise<readonly KubeObject[]> {
  return (await server.client.list(EVENTS, { namespace })).items.filter(
    (event) => event['reportingController'] === 'kubenode.dev/machine',
  );
}

it('are accepted for objects with and without a namespace', async () => {
  const about = await node('node-a');
  const map = await server.client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'kube-public' },
  });
  const recorder = createRecorder('one');
  recorder.record({ ...rebooted(about), related: map });
  recorder.record({ ...rebooted(map), note: 'ä'.repeat(3000), action: 'A'.repeat(500) });
  await recorder.close();
  expect(await events()).toMatchObject([
    { regarding: { kind: 'Node', name: 'node-a', uid: about.metadata.uid }, related: { name: 'settings' } },
  ]);
  expect(await events('kube-public')).toHaveLength(1);
});

it('are accepted for an object whose name is not valid for an Event', async () => {
  const recorder = createRecorder('one');
  const about = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:node-Proxier.' },
  };
  recorder.record({ ...rebooted(await node('node-a')), about });
  await recorder.close();
  expect(await events()).toHaveLength(1);
});

it('that repeat are one Event with a series, even after a change of the leader', async () => {
  const about = await node('node-a');
  for (const instance of ['one', 'two', 'three']) {
    const recorder = createRecorder(instance);
    for (let n = 0; n < 4; n += 1) recorder.record(rebooted(about));
    await recorder.close();
  }
  const [only, ...more] = await events();
  expect(more).toEqual([]);
  expect(valueAt(only, 'series', 'count')).toBe(12);
  expect(await metrics.text()).not.toContain('events_dropped_total{');
});

it('are shown by kubectl events', async () => {
  const about = await node('node-a');
  const recorder = createRecorder('one');
  recorder.record(rebooted(about));
  recorder.record(rebooted(about));
  await recorder.close();
  const args = ['events', '--for', 'node/node-a', '-n', 'default', '--kubeconfig', server.kubeconfig];
  const { stdout } = await promisify(execFile)(server.kubectl, args);
  expect(stdout).toMatch(/Warning\s+Rebooted\s+Node\/node-a\s+the kernel was hung/);
  expect(stdout).toContain('x2 over');
});
