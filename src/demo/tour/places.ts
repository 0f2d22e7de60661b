/** Finds the clusters of the demo on this machine: those of the local fleet, and those that its hub hosts. */
import { existsSync } from 'node:fs';
import { fleetHostingFolder } from '../../cli/hosting/folder.ts';
import { machinesFolder } from '../../cli/local/machines-folder.ts';
import { shellWord } from '../../cli/runnable.ts';
import { planeLayout } from '../../controllers/hosting/drivers/process/folder.ts';
import { MEMBER_PROGRAMS } from '../../controllers/hosting/drivers/process/members.ts';
import type { ConnectOptions } from '../../kube/client/connect.ts';
import type { Layout } from '../../local/layout.ts';
import { HUB } from '../../local/names.ts';
import { listProcesses, usesFolder } from '../../local/processes/observe.ts';
import { type InstanceFolder, instanceFolder } from '../../providers/local/folders.ts';
import { STAGES } from './observed.ts';

export interface ClusterPlaces {
  /** Returns how to connect to the cluster as its administrator. */
  connection(cluster: string): Pick<ConnectOptions, 'kubeconfig' | 'context'>;
  /** Returns the options that select it; KUBECONFIG has the contexts of the local fleet only. */
  selects(cluster: string): string;
  machineFolder(cluster: string, uid: string): InstanceFolder;
  /** Lists the processes and the folder of a hosted cluster that are left. */
  leftovers(cluster: string): Promise<readonly string[]>;
}

export function createClusterPlaces(layout: Layout): ClusterPlaces {
  const hosted = (cluster: string): Layout => planeLayout(fleetHostingFolder(layout.root), cluster);
  const layoutOf = (cluster: string): Layout => (isLocal(cluster) ? layout : hosted(cluster));
  const kubeconfigOf = (cluster: string): string => hosted(cluster).cluster(cluster).kubeconfig;
  return {
    connection: (cluster) =>
      isLocal(cluster)
        ? { kubeconfig: layout.kubeconfig, context: cluster }
        : { kubeconfig: kubeconfigOf(cluster) },
    selects: (cluster) =>
      isLocal(cluster) ? `--context ${cluster}` : `--kubeconfig ${shellWord(kubeconfigOf(cluster))}`,
    machineFolder: (cluster, uid) => instanceFolder(machinesFolder(layoutOf(cluster).root, cluster), uid),
    leftovers: (cluster) => findLeftovers(hosted(cluster).root),
  };
}

function isLocal(cluster: string): boolean {
  return [HUB, ...STAGES].includes(cluster);
}

/** Finds programs by their arguments: one of a control plane has a file of its folder in a flag, one of a machine has it as an argument. */
async function findLeftovers(root: string): Promise<readonly string[]> {
  const running = (await listProcesses()).filter(
    (each) =>
      usesFolder(each, root, MEMBER_PROGRAMS) || each.command.some((word) => word.startsWith(`${root}/`)),
  );
  const processes = running.map(({ pid, command }) => `process ${pid} (${command[0]})`);
  return existsSync(root) ? [...processes, root] : processes;
}
