/** The real Karpenter with its kwok provider, whose instances are Nodes without hosts, beside an API server of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ApiServer } from '../control-plane.ts';
import { eventually } from '../eventually.ts';
import { builtProgram, type GoProgram, whyNotBuilt } from '../node-kit/go-program.ts';
import { tempFolder } from '../temp.ts';
import { KARPENTER_VERSION, karpenterCrds } from './crds.ts';

const KARPENTER: GoProgram = {
  program: 'karpenter-kwok',
  version: KARPENTER_VERSION,
  source: fileURLToPath(new URL('./programs', import.meta.url)),
  package: 'sigs.k8s.io/karpenter/kwok',
  settings: [],
};

/** Returns its path. Built once for each machine, which takes minutes of CPU. */
export function karpenterProgram(): Promise<string> {
  return builtProgram(KARPENTER);
}

export function noKarpenterProgramReason(): Promise<string | undefined> {
  return whyNotBuilt(KARPENTER);
}

export interface RunningKarpenter {
  readonly logFile: string;
  stop(): Promise<void>;
}

/** Resolves when its caches are filled. */
export async function startKarpenter({
  client,
  kubeconfig,
}: Pick<ApiServer, 'client' | 'kubeconfig'>): Promise<RunningKarpenter> {
  for (const crd of await karpenterCrds()) {
    await client.apply(resourceOf(crd), crd, { fieldManager: 'helm' });
    const { group, names, versions } = crd.spec;
    const served = { apiVersion: `${group}/${versions.at(-1)?.name}`, kind: names.kind };
    await waitUntilServed(client, createSystemClock(), served, AbortSignal.timeout(60_000));
  }
  const [metrics, health] = [await findFreePort(), await findFreePort()];
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    METRICS_PORT: String(metrics),
    HEALTH_PROBE_PORT: String(health),
    DISABLE_LEADER_ELECTION: 'true',
    BATCH_IDLE_DURATION: '100ms',
    SYSTEM_NAMESPACE: 'default',
  };
  const started = spawn(await karpenterProgram(), [], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const logFile = join(tempFolder('karpenter'), 'karpenter.log');
  const log = createWriteStream(logFile);
  started.stdout.pipe(log);
  started.stderr.pipe(log);
  await eventually(
    async () => ((await isReady(`http://127.0.0.1:${health}/readyz`)) ? true : undefined),
    `Karpenter is not ready: ${logFile}`,
  );
  return {
    logFile,
    async stop() {
      if (started.exitCode !== null || started.signalCode !== null) return;
      started.kill('SIGKILL');
      await once(started, 'exit');
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
