/** Reads the objects of a control plane in its hub. What may not be read is an error, and never absent. */
import { LABEL_CLUSTER } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES, PODS, SECRETS } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import { HostingError } from '../../errors.ts';
import type { EtcdMember, PlaneOwner } from '../driver.ts';
import { ANNOTATION_OWNER_UID, ANNOTATION_READABLE, KEYS_SECRET, planeNamespace, RECORD } from './names.ts';
import { DISRUPTION_BUDGETS, VOLUME_CLAIMS } from './objects/namespace.ts';
import { NETWORK_POLICIES, SERVICES } from './objects/network.ts';
import { DEPLOYMENTS, STATEFUL_SETS } from './objects/workloads.ts';
import type { KeyFiles } from './pki/keys.ts';
import { keyFilesOf } from './pki/secrets.ts';
import type { WorkloadRecord } from './record.ts';
import { parseWorkloadRecord } from './record-object.ts';

export interface FoundPlane {
  readonly owner: PlaneOwner;
  readonly where: string;
  readonly claim: 'None' | 'Own' | 'Other';
  readonly namespace: KubeObject | undefined;
  readonly objects: PlaneObjects;
  readonly record: WorkloadRecord | undefined;
  readonly keys: KeyFiles;
}

/** By name, but pods. */
export interface PlaneObjects {
  readonly keySecrets: ObjectsByName;
  readonly configMaps: ObjectsByName;
  readonly services: ObjectsByName;
  readonly claims: ObjectsByName;
  readonly policies: ObjectsByName;
  readonly budgets: ObjectsByName;
  readonly workloads: ObjectsByName;
  readonly pods: readonly KubeObject[];
}

type ObjectsByName = ReadonlyMap<string, KubeObject>;

const NONE: PlaneObjects = {
  keySecrets: new Map(),
  configMaps: new Map(),
  services: new Map(),
  claims: new Map(),
  policies: new Map(),
  budgets: new Map(),
  workloads: new Map(),
  pods: [],
};

/** Reads everything, or only what kubeconfigs are made of. */
export async function readHubPlane(
  client: Client,
  owner: PlaneOwner,
  { signal, only = EVERYTHING }: ReadOptions = {},
): Promise<FoundPlane> {
  const namespace = await readNamespace(client, owner, signal);
  const claim = planeClaim(namespace, owner);
  const found = { owner, namespace, claim, where: `namespace ${planeNamespace(owner.name)}` };
  if (claim !== 'Own' || !namespace) return { ...found, objects: NONE, record: undefined, keys: {} };
  const objects = await readObjects(client, namespace, { only, ...(signal ? { signal } : {}) });
  const record = objects.configMaps.get(RECORD);
  const keys = objects.keySecrets.get(KEYS_SECRET);
  return {
    ...found,
    objects,
    record: record && parseWorkloadRecord(record),
    keys: keys ? keyFilesOf(keys) : {},
  };
}

interface ReadOptions {
  readonly signal?: AbortSignal;
  /** The kinds that are read. */
  readonly only?: readonly Resource[];
}

/** The kinds that kubeconfigs are made of. Pods have the addresses of several API servers. */
export const ACCESS_KINDS: readonly Resource[] = [SECRETS, CONFIG_MAPS, SERVICES, PODS];

const EVERYTHING: readonly Resource[] = [
  ...ACCESS_KINDS,
  VOLUME_CLAIMS,
  NETWORK_POLICIES,
  DISRUPTION_BUDGETS,
  STATEFUL_SETS,
  DEPLOYMENTS,
];

export async function readNamespace(
  client: Client,
  { name }: Pick<PlaneOwner, 'name'>,
  signal?: AbortSignal,
): Promise<KubeObject | undefined> {
  const options = signal ? { signal } : {};
  return await unlessMissing(client.get(NAMESPACES, { name: planeNamespace(name) }, options));
}

/** A namespace without the UID of the Cluster is somebody else's, whatever its name. */
export function planeClaim(
  namespace: KubeObject | undefined,
  { name, uid }: PlaneOwner,
): FoundPlane['claim'] {
  if (!namespace) return 'None';
  const { annotations = {}, labels = {} } = namespace.metadata;
  const isOwn = annotations[ANNOTATION_OWNER_UID] === uid && labels[LABEL_CLUSTER] === name;
  return isOwn ? 'Own' : 'Other';
}

export function isReadable({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ANNOTATION_READABLE] === 'true';
}

/** Before hosting gave itself the right to read there was nothing to read. */
async function readObjects(
  client: Client,
  namespace: KubeObject,
  { signal, only }: Required<Pick<ReadOptions, 'only'>> & ReadOptions,
): Promise<PlaneObjects> {
  if (!isReadable(namespace)) return NONE;
  const options = { namespace: namespace.metadata.name, ...(signal ? { signal } : {}) };
  const read = async (resource: Resource): Promise<readonly KubeObject[]> =>
    only.includes(resource) ? await listAll(client, resource, options) : [];
  const named = async (...resources: readonly Resource[]): Promise<ObjectsByName> => {
    const objects = (await Promise.all(resources.map(read))).flat();
    return new Map(objects.map((object) => [object.metadata.name, object]));
  };
  const [keySecrets, configMaps, services, claims, policies, budgets, workloads, pods] = await Promise.all([
    named(SECRETS),
    named(CONFIG_MAPS),
    named(SERVICES),
    named(VOLUME_CLAIMS),
    named(NETWORK_POLICIES),
    named(DISRUPTION_BUDGETS),
    named(STATEFUL_SETS, DEPLOYMENTS),
    read(PODS),
  ]);
  return { keySecrets, configMaps, services, claims, policies, budgets, workloads, pods };
}

async function listAll(
  client: Client,
  resource: Resource,
  options: { readonly namespace: string; readonly signal?: AbortSignal },
): Promise<readonly KubeObject[]> {
  try {
    const objects: KubeObject[] = [];
    for await (const { items } of client.pages(resource, options)) objects.push(...items);
    return objects;
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    throw notReadable(options.namespace, error);
  }
}

function notReadable(namespace: string, cause: unknown): HostingError {
  const where = `namespace ${namespace}`;
  return new HostingError('NoAccess', `hosting may not read the control plane in ${where}`, {
    where,
    hint: `create its RoleBinding again, as "kubectl -n ${namespace} get rolebindings" shows it for other control planes`,
    cause,
  });
}

/** Throws unless the namespace is that of this Cluster. */
export function requireOwnNamespace({ claim, where }: Pick<FoundPlane, 'claim' | 'where'>): void {
  if (claim === 'Own') return;
  throw namespaceNotOurs(where);
}

export function namespaceNotOurs(where: string): HostingError {
  return new HostingError('NamespaceNotOurs', `${where} belongs to another Cluster, or to somebody else`, {
    where,
    hint: `look at its annotation ${ANNOTATION_OWNER_UID}; delete it, or choose another name for the Cluster`,
  });
}

export function claimOfVolume({ objects }: FoundPlane, member: EtcdMember): KubeObject | undefined {
  return objects.claims.get(member);
}
