/** Prepares a control plane in its hub: namespace, rights, limits, Services, volume, then keys. It can be interrupted at any point and repeated. */
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import { NAMESPACES, SECRETS } from '../../../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { HostingError } from '../../../errors.ts';
import type { EtcdMember, PlaneSpec } from '../../driver.ts';
import { PLANE_KEYS } from '../../keys.ts';
import { addressesOf, keyRequest, serviceAddresses } from '../access.ts';
import { withLife } from '../differences.ts';
import { expectedBefore, expectedSecrets, missingObjects } from '../expected.ts';
import {
  claimOfVolume,
  type FoundPlane,
  isReadable,
  namespaceNotOurs,
  planeClaim,
  readHubPlane,
  readNamespace,
} from '../hub.ts';
import { ANNOTATION_READABLE, etcdMembersOf, planeNamespace } from '../names.ts';
import {
  namespaceObject,
  ROLE_BINDINGS,
  tenantBinding,
  VOLUME_CLAIMS,
  volumeClaim,
} from '../objects/namespace.ts';
import { completeKeys, digestsOf } from '../pki/keys.ts';
import { withDerivedKeys } from '../pki/rotation.ts';
import { newRecord, type WorkloadRecord, wasStarted, withAddresses } from '../record.ts';
import { requireKeysOf, storeKeys } from './keys.ts';
import { AS_HOSTING, changeRecord, ensureRecord } from './record.ts';

export interface PrepareParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly storageClass: string | undefined;
  /** The version of the etcd beside this version of Kubernetes. */
  readonly etcdVersion: string | undefined;
}

/** A new right is known to every API server of the hub within a moment. */
const RIGHTS_MS = 15_000;
const POLL_MS = 200;

/** Returns whether the keys, and what members read, are those of the record. */
export async function prepareWorkload(plane: PlaneSpec, parts: PrepareParts): Promise<boolean> {
  const { client } = parts;
  await ensureNamespace(plane, parts);
  const record = await ensureRecord(client, newRecord(plane, parts.etcdVersion));
  if (record.isDestroying) return false;
  const found = await readHubPlane(client, plane);
  requireKeysOf(found, record);
  await applyAll(client, missingObjects(found.objects, expectedBefore(record)));
  for (const member of etcdMembersOf(record)) await ensureVolume(found, record, { ...parts, member });
  return await ensureKeys(plane, parts);
}

async function ensureNamespace(plane: PlaneSpec, parts: PrepareParts): Promise<void> {
  const { client } = parts;
  const namespace = await createOrRead(client, plane);
  const where = `namespace ${planeNamespace(plane.name)}`;
  if (planeClaim(namespace, plane) !== 'Own') throw namespaceNotOurs(where);
  if (namespace.metadata.deletionTimestamp !== undefined) throw stillDeleted(where);
  await client.apply(ROLE_BINDINGS, tenantBinding(plane), { ...AS_HOSTING, force: true });
  if (isReadable(namespace)) return;
  await waitForRights(plane, parts);
  const { metadata, ...rest } = namespaceObject(plane);
  const annotations = { ...metadata.annotations, [ANNOTATION_READABLE]: 'true' };
  await client.apply(
    NAMESPACES,
    { ...rest, metadata: { ...metadata, annotations } },
    { ...AS_HOSTING, force: true },
  );
}

async function createOrRead(client: Client, plane: PlaneSpec): Promise<KubeObject> {
  const found = await readNamespace(client, plane);
  if (found) return found;
  try {
    return await client.create(NAMESPACES, namespaceObject(plane), AS_HOSTING);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
    return await client.get(NAMESPACES, { name: planeNamespace(plane.name) });
  }
}

export function stillDeleted(where: string): HostingError {
  return new HostingError('NamespaceLeft', `${where} is still being deleted`, {
    where,
    hint: `its status names what it waits for: kubectl get ${where} -o yaml`,
  });
}

async function waitForRights({ name }: PlaneSpec, { client, clock }: PrepareParts): Promise<void> {
  const namespace = planeNamespace(name);
  const isGiven = async (): Promise<boolean> => {
    try {
      await client.list(SECRETS, { namespace, limit: 1 });
      return true;
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return false;
      throw error;
    }
  };
  const deadlineMs = clock.monotonicMs() + RIGHTS_MS;
  if (await pollUntil(isGiven, { clock, everyMs: POLL_MS, deadlineMs })) return;
  throw new HostingError('NoAccess', `hosting may not read Secrets in namespace ${namespace}`, {
    where: `namespace ${namespace}`,
    hint: 'install the roles of this version of kubenode in the hub: kubenode install',
  });
}

export async function applyAll(
  client: Client,
  objects: readonly { readonly resource: Resource; readonly object: KubeObject }[],
): Promise<void> {
  for (const { resource, object } of objects) {
    await client.apply(resource, object, { ...AS_HOSTING, force: true });
  }
}

/** A volume that etcd had data in is never made again. */
async function ensureVolume(
  found: FoundPlane,
  record: WorkloadRecord,
  { member, client, storageClass }: PrepareParts & { readonly member: EtcdMember },
): Promise<void> {
  if (claimOfVolume(found, member) || wasStarted(record, member)) return;
  const { storageGiB } = record.placement;
  const claim = volumeClaim(found.owner, { storageGiB, storageClass }, member);
  try {
    await client.create(VOLUME_CLAIMS, claim, AS_HOSTING);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}

/** The digests are recorded when the keys exist, and before the first of them is used. Returns whether the keys are those of the record. */
async function ensureKeys(plane: PlaneSpec, parts: PrepareParts): Promise<boolean> {
  const { client, clock } = parts;
  const found = await readHubPlane(client, plane);
  const addresses = addressesOf(found);
  if (!addresses) return false;
  await changeRecord(client, plane, (current) => withAddresses(current, serviceAddresses(found.objects)));
  const { files, record } = await storeKeys(client, plane, (before, current) =>
    completeKeys(
      withDerivedKeys(before, current.rotation),
      keyRequest(found, withLife(current, plane), { addresses, now: clock.now() }),
    ),
  );
  const recorded = PLANE_KEYS.every((name) => record.keys?.[name] !== undefined);
  if (!recorded) {
    await changeRecord(client, plane, (current) =>
      current.keys ? current : { ...current, keys: digestsOf(files) },
    );
  }
  const complete = { ...found, keys: files };
  await applyAll(client, missingObjects(found.objects, expectedSecrets(complete, record)));
  return true;
}
