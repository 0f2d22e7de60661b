/** Reads the kubeconfigs of a control plane that is prepared. */
import { join } from 'node:path';
import { createSyncKubeconfig } from '../../../../local/pki/access.ts';
import { readAuthority, readTrusted } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import { serverUrl } from '../../../../local/processes/specs.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import type { PlaneAccess } from '../driver.ts';
import type { PlaneFolder } from './folder.ts';

export async function readAccess({ layout, state, claim }: PlaneFolder): Promise<PlaneAccess | undefined> {
  const [cluster] = state?.clusters ?? [];
  if (!cluster || claim !== 'Own') return undefined;
  const { kubeconfig, pkiFolder } = layout.cluster(cluster.name);
  const admin = await readFileIfExists(kubeconfig);
  const caPem = await trustedBy(pkiFolder);
  const sync = parsePair(await readFileIfExists(join(pkiFolder, 'sync.pem')));
  if (admin === undefined || caPem === undefined || !sync) return undefined;
  return { server: serverUrl(cluster), admin, sync: createSyncKubeconfig(cluster, { caPem, sync }) };
}

/** Undefined while an authority without its key could issue nothing. */
async function trustedBy(pkiFolder: string): Promise<string | undefined> {
  const authority = await readAuthority(pkiFolder);
  return authority && (await readTrusted(pkiFolder));
}
