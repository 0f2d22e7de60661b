/** `kubenode hosting` with driver `process` beside a real hub, which a test kills and starts again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { HOSTING_LEASE } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { listProcesses } from '../../../src/local/processes/observe.ts';
import { shellEnv } from '../local-fleet.ts';

export interface HostingProcess {
  /** Takes over from one that was killed at once. */
  start(): Promise<void>;
  /** As by SIGKILL: the control planes run on. */
  kill(): Promise<void>;
  /** Kills it, and what a failed test left behind: only what runs in its folder. */
  endAll(): Promise<void>;
  /** Returns what it has logged since it was started. */
  log(): string;
}

export interface HostingProcessOptions {
  readonly hub: Client;
  readonly kubeconfig: string;
  readonly dir: string;
  /** The flags of each start. */
  readonly flags?: () => readonly string[];
}

export function createHostingProcess({
  hub,
  kubeconfig,
  dir,
  flags = () => [],
}: HostingProcessOptions): HostingProcess {
  let child: ChildProcess | undefined;
  let logged = '';
  return { start, kill, endAll, log: () => logged };

  async function start(): Promise<void> {
    const lease = await hub.get(LEASES, HOSTING_LEASE).catch(() => undefined);
    if (lease) await hub.delete(LEASES, lease.metadata, { uid: lease.metadata.uid ?? '' });
    const args = ['src/cli/main.ts', 'hosting', '--kubeconfig', kubeconfig, '--dir', dir, ...flags()];
    logged = '';
    child = spawn(process.execPath, args, { env: shellEnv(), stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      logged += text;
    });
  }

  async function kill(): Promise<void> {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  async function endAll(): Promise<void> {
    await kill();
    const ours = (await listProcesses()).filter(({ command }) =>
      command.some((arg) => arg.includes(`=${dir}/`)),
    );
    for (const { pid } of ours) process.kill(pid, 'SIGKILL');
  }
}
