/** What people and other controllers do to the target between the commits. */
import { LABEL_HUB, LABEL_UNIT } from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../../../../src/kube/objects/object.ts';
import type { ByHand } from '../../../sync/fuzz/acts.ts';
import { GOOD } from '../../../sync/fuzz/content.ts';
import { keyOf } from '../../../sync/fuzz/problems.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { clusterStatus, declaredObjects, ownedObjects } from './observe.ts';
import { TARGET } from './setup.ts';

const OTHER_MANAGER = 'other-controller';
/** Of finalizers that only a person removes, whether git or a person has set them. */
const BY_HAND = 'example.com/';

/** Returns the object that another manager created, if it did. */
export async function actByHand(fleet: FuzzFleet, act: ByHand): Promise<KubeObject | undefined> {
  try {
    if (act.act === 'foreign') return await createForeign(fleet, act.object);
    // The unit that nothing touches stays as it is: its arrival is what the others are measured by.
    const owned = (await ownedObjects(fleet)).filter(({ metadata }) => metadata.name !== 'beat');
    const chosen = owned[act.nth % Math.max(owned.length, 1)];
    if (chosen) await CHANGES[act.what](await choose(fleet, chosen));
  } catch (error) {
    // It changed since it was read, or the server does not allow it: a person would leave it.
    if (!isKubeError(error)) throw error;
  }
  return undefined;
}

async function createForeign({ servers }: FuzzFleet, object: KubeObject): Promise<KubeObject> {
  const { client } = servers[TARGET];
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  const { metadata } = await client.create(resource, object, { fieldManager: OTHER_MANAGER });
  return { ...object, metadata };
}

type Change = Extract<ByHand, { act: 'hand' }>['what'];

interface Chosen {
  readonly client: Client;
  readonly resource: Resource;
  readonly id: ObjectName;
  readonly object: KubeObject;
}

const CHANGES: Readonly<Record<Change, (chosen: Chosen) => Promise<unknown>>> = {
  edit: (chosen) =>
    merge(chosen, isConfigMap(chosen) ? { data: { value: 'by hand' } } : { spec: { size: 7 } }),
  take({ client, resource, id, object: { apiVersion, kind } }) {
    const data = kind === 'ConfigMap' ? { data: { value: 'taken' } } : {};
    const taken = { apiVersion, kind, metadata: id, ...data };
    return client.apply(resource, taken, { fieldManager: OTHER_MANAGER, force: true });
  },
  delete: ({ client, resource, id, object }) =>
    client.delete(resource, id, { uid: object.metadata.uid ?? '', propagation: 'Background' }),
  'strip labels': (chosen) =>
    merge(chosen, { metadata: { labels: { [LABEL_HUB]: null, [LABEL_UNIT]: null } } }),
  'add finalizer'(chosen) {
    const { finalizers = [] } = chosen.object.metadata;
    return merge(chosen, { metadata: { finalizers: [...finalizers, `${BY_HAND}finalizer`] } });
  },
};

function isConfigMap({ object }: Chosen): boolean {
  return object.kind === 'ConfigMap';
}

async function merge(
  { client, resource, id }: Chosen,
  body: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  return client.patch(resource, id, { type: 'merge', body });
}

async function choose({ servers }: FuzzFleet, object: KubeObject): Promise<Chosen> {
  const { client } = servers[TARGET];
  const { name, namespace } = object.metadata;
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  return { client, resource, id: namespace ? { name, namespace } : { name }, object };
}

/** The other controllers finish: what is being deleted may end. */
export async function removeFinalizers(fleet: FuzzFleet): Promise<void> {
  const declared = await declaredObjects(fleet, Object.values(GOOD).flat());
  for (const object of [...(await ownedObjects(fleet)), ...declared]) {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const kept = finalizers.filter((each) => !each.startsWith(BY_HAND));
    if (!deletionTimestamp || kept.length === finalizers.length) continue;
    await merge(await choose(fleet, object), { metadata: { finalizers: kept } }).catch((error: unknown) => {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    });
  }
}

/**
 * An object without our labels belongs to people, with the fields that they changed: git must not take these by force. They give
 * way to the commit that declares it.
 */
export async function deleteConflicting(fleet: FuzzFleet): Promise<void> {
  const { client } = fleet.servers[TARGET];
  const { failures = [] } = (await clusterStatus(fleet, TARGET)).sync ?? {};
  const conflicts = failures.filter(({ reason }) => reason === 'FieldConflict').map(({ object }) => object);
  const declared = Object.values(GOOD).flat();
  const conflicting = declared.filter((object) => conflicts.includes(keyOf(object)));
  for (const object of await declaredObjects(fleet, conflicting)) {
    const { labels = {}, uid = '' } = object.metadata;
    if (labels[LABEL_HUB] !== undefined) continue;
    const { resource, id } = await choose(fleet, object);
    await client.delete(resource, id, { uid }).catch((error: unknown) => {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    });
  }
}
