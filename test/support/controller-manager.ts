/** The real kube-controller-manager and kube-scheduler beside a test API server. */
import { dirname, join } from 'node:path';
import { formatComponentKubeconfig } from '../../src/local/pki/kubeconfig.ts';
import {
  createControllerManagerCommand,
  createSchedulerCommand,
  type ManagerFlags,
  type ProgramPath,
} from '../../src/local/processes/commands.ts';
import { PRIVATE_MODE, writeFileAtomic } from '../../src/os/files.ts';
import { findFreePort } from '../../src/os/net/ports.ts';
import { startProcess, stopProcess } from '../../src/os/process/child.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { ApiServer } from './control-plane.ts';

/** With these controllers only. */
export async function startControllerManager(
  server: ApiServer,
  controllers: readonly string[],
  flags: readonly string[] = [],
): Promise<() => Promise<void>> {
  return await startManager(server, 'manager', (path, common) => {
    const command = createControllerManagerCommand(path, common);
    const args = command.args.filter((arg) => !/^--(controllers|use-service-account-credentials)=/.test(arg));
    return { ...command, args: [...args, `--controllers=${controllers.join(',')}`, ...flags] };
  });
}

export async function startScheduler(server: ApiServer): Promise<() => Promise<void>> {
  return await startManager(server, 'scheduler', createSchedulerCommand);
}

async function startManager(
  server: ApiServer,
  name: string,
  commandOf: (path: ProgramPath, flags: ManagerFlags) => ReturnType<typeof createSchedulerCommand>,
): Promise<() => Promise<void>> {
  const { pkiFolder, url, kubectl } = server;
  const { certPem, keyPem } = server.certificateFor({ user: name, groups: ['system:masters'] });
  const certificateFile = join(pkiFolder, `${name}.pem`);
  await writeFileAtomic(certificateFile, certPem + keyPem, PRIVATE_MODE);
  const kubeconfig = join(pkiFolder, `${name}.kubeconfig`);
  const caFile = join(pkiFolder, 'ca.crt');
  await writeFileAtomic(
    kubeconfig,
    formatComponentKubeconfig({ server: url, caFile, certificateFile }),
    PRIVATE_MODE,
  );
  const port = await findFreePort();
  const command = commandOf((program) => join(dirname(kubectl), program), { pkiFolder, kubeconfig, port });
  const identity = await startProcess(command, join(pkiFolder, `${name}.log`));
  return () => stopProcess(identity, createSystemClock());
}
