/**
 * A whole controller process, as `kubenode controllers` will be one: configuration, views, election, health, signals.
 * Its controller writes into each ConfigMap with `wanted` what it wants, as an annotation, by server-side apply.
 */

import { argv, exit, stdout } from 'node:process';
import { createView } from '../../../../src/kube/cache/view.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import type { Controller } from '../../../../src/kube/controller/controller.ts';
import { runControllers } from '../../../../src/kube/controller/run.ts';
import { createLeaseElection } from '../../../../src/kube/leader/election.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createLogger } from '../../../../src/kube/process/logger.ts';
import { createMetrics } from '../../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../../src/kube/process/metrics-runtime.ts';
import { listenForStopSignals } from '../../../../src/kube/process/shutdown.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const [identity = '', kubeconfig = '', passMs = '0'] = argv.slice(2);

const clock = createSystemClock();
const random = (): number => 0.5;
const log = createLogger({ clock, level: 'info' });
const metrics = createMetrics();
const runtime = createRuntimeMetrics(metrics);
const client = await connect({ kubeconfig, onCall: (report) => runtime.call(report) });
const shared = { clock, random, log };
const view = createView({
  ...shared,
  client,
  resource: CONFIG_MAPS,
  namespace: 'default',
  metrics: runtime.watch,
});

const copier: Controller = {
  name: 'copier',
  reads: ['ConfigMap'],
  writes: ['ConfigMap.metadata.annotations[test/copied]'],
  fieldManager: 'copier',
  reconcile: async (key, pass) => {
    const object = view.store.get(key);
    const wanted = textAt(object, 'data', 'wanted');
    if (!object || wanted === undefined) return {};
    if (object.metadata.annotations?.['test/copied'] === wanted) return {};
    stdout.write(`pass over ${key}\n`);
    await clock.sleep(Number(passMs), pass.signal);
    pass.fence();
    const { name, namespace } = object.metadata;
    const annotations = { 'test/copied': wanted, 'test/epoch': String(pass.epoch), 'test/by': identity };
    const intent = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: namespace ?? '', annotations },
    };
    await client.apply(CONFIG_MAPS, intent, { fieldManager: 'copier', signal: pass.signal });
    return {};
  },
};

const lease = createLeaseElection({
  ...shared,
  client,
  identity,
  name: { namespace: 'default', name: 'copiers' },
  leaseSeconds: 6,
  renewDeadlineSeconds: 4,
  retrySeconds: 0.5,
  metrics: runtime.lease,
});
const until = listenForStopSignals(process, log);
try {
  await runControllers(
    {
      ...shared,
      controllers: [copier],
      views: { ConfigMap: view },
      lease,
      metrics,
      runtime,
      health: { port: 0, listening: (url) => stdout.write(`${url}\n`) },
    },
    until.signal,
  );
} catch (error) {
  log.error('controllers ended', { error });
  exit(3);
}
await client.close();
until.stop();
