/** The real kube-controller-manager beside a test API server, with these controllers only. */
import { dirname, join } from 'node:path';
import { formatComponentKubeconfig } from '../../src/local/pki/kubeconfig.ts';
import { createControllerManagerCommand } from '../../src/local/processes/commands.ts';
import { PRIVATE_MODE, writeFileAtomic } from '../../src/os/files.ts';
import { findFreePort } from '../../src/os/ports.ts';
import { startProcess, stopProcess } from '../../src/os/process/child.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import type { ApiServer } from './control-plane.ts';

export async function startControllerManager(
  server: ApiServer,
  controllers: readonly string[],
  flags: readonly string[] = [],
): Promise<() => Promise<void>> {
  const { pkiFolder, url, kubectl } = server;
  const { certPem, keyPem } = server.certificateFor({ user: 'manager', groups: ['system:masters'] });
  const certificateFile = join(pkiFolder, 'manager.pem');
  await writeFileAtomic(certificateFile, certPem + keyPem, PRIVATE_MODE);
  const kubeconfig = join(pkiFolder, 'manager.kubeconfig');
  const caFile = join(pkiFolder, 'ca.crt');
  await writeFileAtomic(
    kubeconfig,
    formatComponentKubeconfig({ server: url, caFile, certificateFile }),
    PRIVATE_MODE,
  );
  const port = await findFreePort();
  const command = createControllerManagerCommand((program) => join(dirname(kubectl), program), {
    pkiFolder,
    kubeconfig,
    port,
  });
  const args = command.args.filter((arg) => !/^--(controllers|use-service-account-credentials)=/.test(arg));
  const own = { ...command, args: [...args, `--controllers=${controllers.join(',')}`, ...flags] };
  const identity = await startProcess(own, join(pkiFolder, 'manager.log'));
  return () => stopProcess(identity, createSystemClock());
}
