/**
 * A whole controller process, as `kubenode controllers` will be one: configuration, views, election, health, signals.
 * Its controller copies `desired` of each ConfigMap into an annotation, by server-side apply.
 */
import { argv, exit, stdout } from 'node:process';
import { createView } from '../../../../src/kube/cache/view.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { type Controller, read } from '../../../../src/kube/controller/controller.ts';
import { runControllers } from '../../../../src/kube/controller/run.ts';
import { createLeaseElection } from '../../../../src/kube/leader/election.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createLogger } from '../../../../src/kube/process/logger.ts';
import { createMetrics } from '../../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../../src/kube/process/metrics-runtime.ts';
import { listenForStopSignals } from '../../../../src/kube/process/shutdown.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const [identity = '', kubeconfig = '', takesMs = '0'] = argv.slice(2);

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
  managers: ['copier'],
  metrics: runtime.watch,
});

const copier: Controller = {
  name: 'copier',
  reads: [read(CONFIG_MAPS)],
  writes: ['ConfigMap.metadata.annotations'],
  fieldManager: 'copier',
  reconcile: async (key, context) => {
    const object = context.view(CONFIG_MAPS).get(key);
    const desired = textAt(object, 'data', 'desired');
    if (!object || desired === undefined) return {};
    if (object.metadata.annotations?.['test/copied'] === desired) return {};
    stdout.write(`reconcile ${key}\n`);
    await clock.sleep(Number(takesMs), context.signal);
    const { name, namespace } = object.metadata;
    const annotations = { 'test/copied': desired, 'test/epoch': String(context.epoch), 'test/by': identity };
    await context.apply(CONFIG_MAPS, { metadata: { name, namespace: namespace ?? '', annotations } });
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
      connect: (principal) => connect({ kubeconfig, onCall: (report) => runtime.call(report), ...principal }),
      reporter: { domain: 'test', instance: identity },
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
