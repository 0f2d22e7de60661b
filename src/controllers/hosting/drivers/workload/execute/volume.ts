/** Creates the claims of the volumes of snapshots and backups. */
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { HostingError } from '../../../errors.ts';
import type { FoundPlane } from '../hub.ts';
import type { WorkloadImages } from '../images.ts';
import { ANNOTATION_OWNER_UID } from '../names.ts';
import { VOLUME_CLAIMS } from '../objects/namespace.ts';
import { AS_HOSTING } from './record.ts';

/** Resolves to the UID of the claim. One of others with this name is not touched: what is in its volume may be all that is left of them. */
export async function ensureClaim(
  { owner, objects, where }: FoundPlane,
  claim: KubeObject,
  { client }: { readonly client: Client },
): Promise<string> {
  const { name } = claim.metadata;
  const there = objects.claims.get(name);
  if (there && there.metadata.annotations?.[ANNOTATION_OWNER_UID] !== owner.uid) {
    throw new HostingError(
      'DataNotOurs',
      `PersistentVolumeClaim ${name} belongs to another control plane, or to somebody else`,
      {
        where,
        hint: 'look at what is in its volume; set that volume to Retain where it has backups, then delete the claim',
      },
    );
  }
  return (there ?? (await create(claim, client))).metadata.uid ?? '';
}

/** A claim without a class would get the default one, whatever becomes of its volumes. */
export function requireBackupClass(
  { where }: Pick<FoundPlane, 'where'>,
  images: WorkloadImages | undefined,
): string {
  const storageClass = images?.backupStorageClass;
  if (storageClass !== undefined) return storageClass;
  throw new HostingError('BackupMissing', 'the file of images names no backupStorageClass', {
    where,
    hint: 'name the StorageClass of the volume with the backups, or remove spec.hosted.etcd.restoreFrom to begin without data',
  });
}

/** Another process of hosting may have created it. */
async function create(claim: KubeObject, client: Client): Promise<KubeObject> {
  try {
    return await client.create(VOLUME_CLAIMS, claim, AS_HOSTING);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    const { name, namespace = '' } = claim.metadata;
    return await client.get(VOLUME_CLAIMS, { name, namespace });
  }
}
