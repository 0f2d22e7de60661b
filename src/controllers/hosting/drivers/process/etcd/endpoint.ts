/** Tells how a client asks the members of the etcd of a control plane. */
import { join } from 'node:path';
import { readTrusted } from '../../../../../local/pki/authority.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { etcdPeerUrl, LOOPBACK } from '../../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import { readFileIfExists } from '../../../../../os/files.ts';
import type { EtcdPlaces } from '../../etcd/membership.ts';
import type { PlaneFolder } from '../folder.ts';

/** Returns an endpoint for each member, in their order. Empty before there are certificates. */
export async function etcdEndpoints({
  layout,
  state,
}: Pick<PlaneFolder, 'layout' | 'state'>): Promise<readonly ProbeEndpoint[]> {
  const { pkiFolder } = layout.etcd;
  const caPem = await readTrusted(pkiFolder);
  const client = parsePair(await readFileIfExists(join(pkiFolder, 'client.pem')));
  if (!state || caPem === undefined || !client) return [];
  const members = state.etcdMembers ?? [{ port: state.etcdPort }];
  return members.map(({ port }) => ({ url: `https://${LOOPBACK}:${port}`, caPem, client }));
}

export async function etcdPlaces(found: Pick<PlaneFolder, 'layout' | 'state'>): Promise<EtcdPlaces> {
  return { endpoints: await etcdEndpoints(found), peerUrls: peerUrls(found) };
}

export function peerUrls({ state }: Pick<PlaneFolder, 'state'>): readonly string[] {
  return (state?.etcdMembers ?? []).map(({ peerPort }) => etcdPeerUrl(peerPort));
}
