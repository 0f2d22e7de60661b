/**
 * Remembers the cluster that the host has joined. The bootstrap file stays on the host, with the CA of that time: it is compared with what a
 * person brought last, and never with the CA in use, which a rotation may have replaced.
 */
import {
  forgetFollowed,
  readFollowed,
  readTrustedFile,
  restoreFollowed,
  writeTrustedFile,
} from '../authorities/store.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { AGENT_PKI, CLUSTER_FILE } from '../layout.ts';
import { writeStateFile } from '../state-file.ts';
import type { BootstrapAccess } from './bootstrap-file.ts';
import { digestOfCa, type JoinedCluster, knownCluster } from './known-cluster.ts';
import { createIdentityStore, identityFiles } from './store.ts';

type ClusterAccess = Pick<BootstrapAccess, 'server' | 'ca'>;

/** Keeps where the server is, from the first start on. The CA of the same file never replaces what was followed since. */
export async function rememberCluster(
  { files }: Pick<Host, 'files'>,
  access: ClusterAccess,
): Promise<JoinedCluster> {
  if (!(await hasJoined(files, access))) return await joinCluster({ files }, access);
  await restoreCa(files, access.ca);
  return await writeCluster(files, access);
}

/** Joins a cluster, because a person or an import brings its CA. */
export async function joinCluster(
  { files }: Pick<Host, 'files'>,
  access: ClusterAccess,
): Promise<JoinedCluster> {
  const { ca } = access;
  await forgetFollowed(files);
  if (ca !== undefined) await writeTrustedFile(files, ca);
  const cluster = await writeCluster(files, access);
  // An agent that runs may have written what it followed once more. From here on it does not.
  if (ca !== undefined) await writeTrustedFile(files, ca);
  return cluster;
}

async function writeCluster(files: HostFiles, { server, ca }: ClusterAccess): Promise<JoinedCluster> {
  const cluster = { server, hasCa: ca !== undefined, ...(ca !== undefined && { caSha256: digestOfCa(ca) }) };
  await writeStateFile(files, CLUSTER_FILE, cluster);
  return cluster;
}

/** A host with a certificate has joined: a file that is missing does not prove another cluster. */
async function hasJoined(files: HostFiles, access: ClusterAccess): Promise<boolean> {
  if (await knownCluster(files)) return await isKnownCluster(files, access);
  return (await createIdentityStore(files, identityFiles(AGENT_PKI)).held()) !== undefined;
}

/** Tells whether the host has joined this server with this CA. */
export async function isKnownCluster(
  files: Pick<HostFiles, 'read'>,
  { server, ca }: ClusterAccess,
): Promise<boolean> {
  const known = await knownCluster(files);
  if (known?.server !== server || known.hasCa !== (ca !== undefined)) return false;
  if (ca === undefined) return true;
  // An earlier agent wrote the CA of its bootstrap file at each start, so that the file has it.
  const { caSha256 = digestOfCa((await readTrustedFile(files)) ?? ca) } = known;
  return caSha256 === digestOfCa(ca);
}

async function restoreCa(files: HostFiles, ca: string | undefined): Promise<void> {
  const followed = await readFollowed(files);
  if (followed) return await restoreFollowed(files, followed);
  if (ca !== undefined && (await readTrustedFile(files)) === undefined) await writeTrustedFile(files, ca);
}
