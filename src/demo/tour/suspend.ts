/** Suspends processes of the demo: for everyone else a machine has lost its power then, and an API server does not answer. */
import { CliError } from '../../cli/errors.ts';
import type { Layout } from '../../local/layout.ts';
import { listProcesses, usesFolder } from '../../local/processes/observe.ts';
import { signalProcess } from '../../os/process/child.ts';
import type { ProcessIdentity } from '../../os/process/identity.ts';
import { findMarked } from '../../providers/local/processes.ts';

/** Until a round finds nothing new: an agent may start a process while the others are being stopped. */
export async function suspendMachine(mark: string): Promise<void> {
  const stopped = new Set<number>();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks for what the one before missed
    const found = (await findMarked(mark)).filter(({ pid }) => !stopped.has(pid));
    if (found.length === 0) return;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await Promise.all(found.map((identity) => signalProcess(identity, 'SIGSTOP')));
    for (const { pid } of found) stopped.add(pid);
  }
}

export async function resumeMachine(mark: string): Promise<void> {
  const found = await findMarked(mark);
  await Promise.all(found.map((identity) => signalProcess(identity, 'SIGCONT')));
}

/** Suspends the API server of a cluster of the local fleet. Rejects when none runs: what is verified meanwhile would prove nothing. */
export async function suspendServer(layout: Layout, cluster: string): Promise<void> {
  const servers = await findServers(layout, cluster);
  if (servers.length === 0) {
    throw new CliError(`the API server of ${cluster} is not running`, {
      where: layout.cluster(cluster).folder,
      hint: `see the log of the terminal that runs kubenode start: it starts ${cluster} again`,
    });
  }
  await Promise.all(servers.map((server) => signalProcess(server, 'SIGSTOP')));
}

export async function resumeServer(layout: Layout, cluster: string): Promise<void> {
  const servers = await findServers(layout, cluster);
  await Promise.all(servers.map((server) => signalProcess(server, 'SIGCONT')));
}

async function findServers(layout: Layout, cluster: string): Promise<readonly ProcessIdentity[]> {
  const { folder } = layout.cluster(cluster);
  return (await listProcesses()).filter((each) => usesFolder(each, folder, ['kube-apiserver']));
}
