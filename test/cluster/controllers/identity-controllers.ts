/** `kubenode controllers` as its own ServiceAccount with the installed rights, and controllers of Kubernetes: the signer and others. */
import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'vitest';
import { PRINCIPAL_CONTROLLERS, PRINCIPAL_MACHINE, serviceAccountUser } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { killed } from '../defender/processes.ts';

export const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

export async function startIdentityControllers(
  { server }: InstalledServer,
  others: readonly string[] = [],
  options: readonly string[] = [],
): Promise<() => Promise<void>> {
  const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
  const kubeconfig = await server.kubeconfigFor({ user, groups: ACCOUNTS });
  const args = [
    'src/cli/main.ts',
    'controllers',
    '--kubeconfig',
    kubeconfig,
    '--log-level',
    'warn',
    ...options,
  ];
  const stopControllers = keepRunning(args);
  const stopManager = await startControllerManager(server, ['csrsigning', ...others]);
  return async () => {
    await stopControllers();
    await stopManager();
  };
}

/** As a kubelet does: a process that has lost its Lease exits, and the next one continues. */
function keepRunning(args: readonly string[]): () => Promise<void> {
  let isStopped = false;
  let running = start();
  return async () => {
    isStopped = true;
    await killed(running);
  };

  function start(): ChildProcess {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('exit', (code, signal) => {
      if (isStopped) return;
      process.stderr.write(`kubenode controllers ended with ${signal ?? code}, and are started again\n`);
      running = start();
    });
    return child;
  }
}

/** `kubenode machine token`, run by an administrator. Returns what it prints. */
export async function bootstrapConfigFor({ server }: InstalledServer, machine: string): Promise<string> {
  const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
  const code = await runCommandLine(io, ['machine', 'token', machine]);
  expect([code, io.stderr]).toEqual([0, expect.stringContaining(`acting as ${PRINCIPAL_MACHINE}`)]);
  return io.stdout;
}
