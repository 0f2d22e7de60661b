/** Reads the kubeconfigs of a control plane that is prepared. */
import { join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import { createSyncKubeconfig } from '../../../../local/pki/access.ts';
import { readAuthority, readTrusted } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import { localUrl } from '../../../../local/processes/addresses.ts';
import { LOOPBACK } from '../../../../local/processes/commands.ts';
import { outsideUrl, serverUrl } from '../../../../local/processes/specs.ts';
import type { LocalClusterState } from '../../../../local/state.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import { API_SERVERS, type ApiServerAccess, type PlaneAccess } from '../driver.ts';
import type { PlaneFolder } from './folder.ts';

export async function readAccess({ layout, state, claim }: PlaneFolder): Promise<PlaneAccess | undefined> {
  const [cluster] = state?.clusters ?? [];
  if (!cluster || claim !== 'Own') return undefined;
  const { kubeconfig, pkiFolder } = layout.cluster(cluster.name);
  const admin = await readFileIfExists(kubeconfig);
  const caPem = await trustedBy(pkiFolder);
  const sync = parsePair(await readFileIfExists(join(pkiFolder, 'sync.pem')));
  if (admin === undefined || caPem === undefined || !sync) return undefined;
  const server = serverUrl(cluster);
  const access = { server, admin, sync: createSyncKubeconfig(cluster, { caPem, sync }) };
  return {
    ...access,
    ...adminOutside(cluster, access),
    ...optional('apiServers', apiServersOf(cluster, access)),
  };
}

function adminOutside(
  cluster: LocalClusterState,
  { server, admin }: Pick<PlaneAccess, 'server' | 'admin'>,
): Pick<PlaneAccess, 'adminOutside'> {
  return cluster.exposure ? { adminOutside: admin.replace(server, outsideUrl(cluster)) } : {};
}

/** Each API server of several is asked without its balancers, which choose one. */
function apiServersOf(
  { apiServers }: LocalClusterState,
  { server, admin }: Pick<PlaneAccess, 'server' | 'admin'>,
): readonly ApiServerAccess[] | undefined {
  if (!apiServers) return undefined;
  const { replicas, ports } = apiServers;
  return API_SERVERS.slice(0, replicas).flatMap((member, index) => {
    const port = ports[index];
    return port === undefined ? [] : [{ member, admin: admin.replace(server, localUrl(LOOPBACK, port)) }];
  });
}

/** Undefined while an authority without its key could issue nothing. */
async function trustedBy(pkiFolder: string): Promise<string | undefined> {
  const authority = await readAuthority(pkiFolder);
  return authority && (await readTrusted(pkiFolder));
}
