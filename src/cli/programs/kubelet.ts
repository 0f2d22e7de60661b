/** The entry point of the bundle of the stand-in kubelet: the artifact of a component of sandbox nodes. */
import { arch, availableParallelism, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { createJsonLog } from '../../agent/log.ts';
import { startHealthServer } from '../../kube/process/health.ts';
import { connectAsKubelet } from '../../local/kubelet/access.ts';
import { readBootIdentity } from '../../local/kubelet/boot.ts';
import { StandInKubelet } from '../../local/kubelet/kubelet.ts';
import { createSystemClock } from '../../os/system-clock.ts';
import { systemRandom } from '../../os/system-random.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    kubeconfig: { ...text, default: '' },
    'hostname-override': { ...text, default: '' },
    'kubelet-version': { ...text, default: 'v0.0.0' },
    'node-ip': { ...text, default: '127.0.0.1' },
    'healthz-port': { ...text, default: '0' },
    'heartbeat-seconds': { ...text, default: '10' },
    'max-pods': { ...text, default: '110' },
  },
});

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`stopped by ${signal}`)));
}
const clock = createSystemClock();
const log = createJsonLog({ write: (line) => process.stdout.write(line), clock });
const client = await connectAsKubelet(values.kubeconfig, clock);
const kubelet = new StandInKubelet({
  client,
  facts: {
    ...(await readBootIdentity(process.env)),
    name: values['hostname-override'],
    kubeletVersion: values['kubelet-version'],
    kernel: release(),
    arch: arch() === 'arm64' ? 'arm64' : 'amd64',
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    pods: Number(values['max-pods']),
    address: values['node-ip'],
  },
  heartbeatMs: Number(values['heartbeat-seconds']) * 1000,
  clock,
  log,
  random: systemRandom,
});
const health = await startHealthServer({
  port: Number(values['healthz-port']),
  alive: { heartbeat: () => kubelet.unhealthyReason() },
  clock,
  log,
});
await kubelet.run(interrupted.signal);
await health.close();
await client.close();
