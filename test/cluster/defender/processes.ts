/** Processes of `kubenode controllers`, and the commands of a person beside them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NAMESPACE, PRINCIPAL_CONTROLLERS } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { testIo } from '../../support/test-io.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function kubenodeAs(config: string, ...args: string[]): Promise<Ended> {
  const io = testIo({ env: { KUBECONFIG: config } });
  const code = await runCommandLine(io, args);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

export function startControllers(kubeconfig: string, ...more: readonly string[]): ChildProcess {
  const args = ['src/cli/main.ts', 'controllers', '--kubeconfig', kubeconfig, '--log-level', 'warn'];
  return spawn(process.execPath, [...args, ...more], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** `log` is called with what it logs. */
export function startLoggedControllers(
  kubeconfig: string,
  log: (text: string) => void,
  ...more: readonly string[]
): ChildProcess {
  const args = ['src/cli/main.ts', 'controllers', '--kubeconfig', kubeconfig, '--log-level', 'warn'];
  const started = spawn(process.execPath, [...args, ...more], { stdio: ['ignore', 'ignore', 'pipe'] });
  started.stderr.on('data', (chunk: Buffer) => log(chunk.toString()));
  return started;
}

/** Deletes the Lease of a process that was killed: the next one leads at once, and does not wait for its end. */
export async function endLease(admin: Client): Promise<void> {
  const { items } = await admin.list(LEASES, { namespace: NAMESPACE });
  const lease = items.find(({ metadata }) => metadata.name === PRINCIPAL_CONTROLLERS);
  if (lease) await admin.delete(LEASES, lease.metadata, { uid: lease.metadata.uid ?? '' });
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
