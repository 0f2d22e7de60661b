/** Reads of the cluster what an import has to know: which hosts are its machines already, and its API server. */
import { isIP } from 'node:net';
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ServerAddress } from '../../../providers/ssh/preflight/check.ts';
import type { HostIdentity } from '../../../providers/ssh/preflight/duplicates.ts';
import { CliError, EXIT } from '../../errors.ts';
import { collect, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { foreignMachineReason } from './apply/owned.ts';
import { type ImportFlags, parseServer } from './options.ts';
import type { ClusterMachine } from './report/report.ts';

export interface ImportCluster {
  readonly machines: readonly ClusterMachine[];
  readonly server?: ServerAddress;
}

/** Asks no cluster unless one is named: the hosts may be for a cluster that does not exist yet. */
export async function readImportCluster(io: Io, flags: ImportFlags): Promise<ImportCluster> {
  const { kubeconfig, context, server, apply } = flags;
  if (!apply && kubeconfig === undefined && context === undefined) {
    return { machines: [], ...optional('server', server) };
  }
  return await withCluster(io, flags, async (client) => {
    const machines = await collect(client, MACHINES, { signal: io.signal }, clusterMachine);
    return { machines, ...optional('server', server ?? serverForHosts(client.server)) };
  });
}

/** The Machines of earlier calls with --apply are found again by a later one. */
function clusterMachine(machine: Machine): ClusterMachine {
  return { ...machineIdentity(machine), isApplied: foreignMachineReason(machine) === undefined };
}

export function machineIdentity({ metadata, spec, status }: Machine): HostIdentity {
  const { import: imported } = spec;
  const machineId = status?.system?.machineID;
  return {
    label: `Machine ${metadata.name}`,
    hostName: metadata.name,
    ...(imported && { address: imported.address, port: imported.port }),
    ...optional('machineId', machineId),
    hostKeys: imported?.hostKeys ?? [],
  };
}

/** Undefined for an address of this computer, which no host reaches. */
export function serverForHosts(url: string): ServerAddress | undefined {
  const { hostname, protocol } = new URL(url);
  if (hostname === 'localhost' || hostname === '[::1]' || isLoopback(hostname)) return undefined;
  if (protocol === 'https:') return parseServer(url);
  throw new CliError('hosts cannot use this API server: agents connect by https:// only', {
    where: url,
    hint: 'name the address that the hosts reach with --server https://HOST:PORT, or use another kubeconfig',
    exitCode: EXIT.badInput,
  });
}

function isLoopback(host: string): boolean {
  return isIP(host) === 4 && host.startsWith('127.');
}
