/**
 * Reads and writes the ConfigMaps of an inventory. Every write is a compare-and-swap, and the epoch of the Lease is a part of it:
 * before its first write, a holder writes its epoch to each of these ConfigMaps, so that a late write of an earlier holder always
 * finds another version. A late creation finds its name taken, because names are recorded before they are created.
 */
import { LABEL_MANAGED_BY, LABEL_UNIT, MANAGED_BY, MANAGER_SYNC, NAMESPACE } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Metadata } from '../../../kube/objects/object.ts';
import { CHUNK_PREFIX, unitOfChunk } from './chunks.ts';
import { DamagedInventory } from './inventory.ts';

const STATE = 'inventory';

export interface InventoryOptions {
  readonly clusterUID: string;
  /**
   * Prefix of unit names. A hub that is also a cluster of its own fleet has two inventories: one for the hub's own objects
   * and one for those of the cluster. They must not see each other's entries, or each would prune the other's objects.
   */
  readonly scope: string;
  /**
   * Returns the epoch of the Lease under which this process writes; undefined while the Lease is not held, and for a process that
   * only reads.
   */
  readonly epoch: () => number | undefined;
  /** Called before each write. When it rejects, nothing is written. */
  readonly beforeWrite?: () => Promise<void>;
}

export const CLUSTER_SCOPE = '';

/** Another process has written the inventory in a later term of the Lease. */
export class EpochSuperseded extends Error {
  override readonly name = 'EpochSuperseded';
  readonly recorded: number;

  constructor(server: string, { epoch, recorded }: { readonly epoch: number; readonly recorded: number }) {
    super(
      `the inventory on ${server} was written with epoch ${recorded} of its Lease, and this process holds epoch ${epoch}: ` +
        'nothing is written until the Lease is acquired with a higher epoch',
    );
    this.recorded = recorded;
  }
}

const STATE_FIELDS = ['commit', 'digest', 'acknowledged', 'creating'] as const;

/** The fields of the ConfigMap `inventory`. `creating` holds the names of ConfigMaps that may be created, one a line. */
export type StateFields = Partial<Record<(typeof STATE_FIELDS)[number], string>>;

export interface InventoryMaps {
  /** The ConfigMaps with the entries, as they were read. */
  readonly chunks: readonly KubeObject[];
  state(): StateFields;
  /**
   * Writes the epoch everywhere, unless that is done. Returns the names of the ConfigMaps that it created without entries.
   * Rejects with EpochSuperseded when the inventory has a higher epoch.
   */
  claim(entriesOf: (name: string) => string): Promise<readonly string[]>;
  /**
   * Records the names of ConfigMaps before they are created: the next holder creates those that are missing, so that a late
   * creation finds its name taken.
   */
  reserve(names: readonly string[]): Promise<void>;
  /** Removes the names from the record before their ConfigMaps are deleted: the next holder would create them. */
  release(names: readonly string[]): Promise<void>;
  /** Writes the changed fields of the ConfigMap `inventory`. The other fields stay. */
  writeState(changed: StateFields): Promise<void>;
  writeChunk(name: string, entries: string): Promise<void>;
  deleteChunk(name: string): Promise<void>;
}

interface WrittenMap {
  readonly metadata: Metadata;
  readonly epoch: number;
}

/** Reads all ConfigMaps of the inventory. Rejects when any of them belongs to another cluster. */
export async function openInventoryMaps(client: Client, options: InventoryOptions): Promise<InventoryMaps> {
  const { clusterUID, scope } = options;
  const stateName = scope === CLUSTER_SCOPE ? STATE : `${STATE}.${scope.slice(0, -1)}`;
  const maps = new Map<string, WrittenMap>();
  const chunks: KubeObject[] = [];
  let state: StateFields = {};
  let claimed: number | undefined;
  for await (const object of inventoryObjects(client)) {
    const { name } = object.metadata;
    if (name !== stateName && !isChunk(name, scope)) continue;
    rejectForeign(client, object, clusterUID);
    maps.set(name, { metadata: object.metadata, epoch: epochOf(client, object) });
    if (name === stateName) state = fieldsOf(object);
    else chunks.push(object);
  }
  return { chunks, state: () => state, claim, reserve, release, writeState, writeChunk, deleteChunk };

  async function claim(entriesOf: (name: string) => string): Promise<readonly string[]> {
    const epoch = heldEpoch();
    if (claimed === epoch) return [];
    const recorded = Math.max(0, ...[...maps.values()].map((map) => map.epoch));
    if (recorded > epoch) throw new EpochSuperseded(client.server, { epoch, recorded });
    claimed = epoch;
    try {
      // First: from here on, an earlier holder records no further name.
      if (maps.get(stateName)?.epoch !== epoch) await writeState({});
      const old = [...maps].filter(([name, map]) => name !== stateName && map.epoch !== epoch);
      for (const [name] of old) await writeChunk(name, entriesOf(name));
      const missing = linesOf(state.creating).filter((name) => !maps.has(name));
      for (const name of missing) await writeChunk(name, '');
      return missing;
    } catch (error) {
      claimed = undefined;
      throw error;
    }
  }

  function heldEpoch(): number {
    const epoch = options.epoch();
    if (epoch === undefined) throw new KubeError('Aborted', 'request not sent: the Lease is not held');
    return epoch;
  }

  async function reserve(names: readonly string[]): Promise<void> {
    const missing = names.filter((name) => !maps.has(name));
    const recorded = new Set(linesOf(state.creating));
    if (missing.some((name) => !recorded.has(name))) await writeState({ creating: missing.join('\n') });
  }

  async function release(names: readonly string[]): Promise<void> {
    const recorded = linesOf(state.creating);
    const left = recorded.filter((name) => !names.includes(name));
    if (left.length < recorded.length) await writeState({ creating: left.join('\n') });
  }

  async function writeState(changed: StateFields): Promise<void> {
    const next = { ...state, ...changed };
    await put(stateName, {}, next);
    state = next;
  }

  async function writeChunk(name: string, entries: string): Promise<void> {
    await put(name, { [LABEL_UNIT]: unitOfChunk(name) }, { entries });
  }

  async function deleteChunk(name: string): Promise<void> {
    const { uid = '', resourceVersion } = maps.get(name)?.metadata ?? {};
    const preconditions = { uid, ...(resourceVersion ? { resourceVersion } : {}) };
    await client.delete(CONFIG_MAPS, { name, namespace: NAMESPACE }, preconditions);
    maps.delete(name);
  }

  async function put(name: string, unit: Record<string, string>, fields: object): Promise<void> {
    const epoch = claimed ?? heldEpoch();
    const resourceVersion = maps.get(name)?.metadata.resourceVersion;
    const labels = { [LABEL_MANAGED_BY]: MANAGED_BY, ...unit };
    const metadata = { name, namespace: NAMESPACE, labels, ...(resourceVersion ? { resourceVersion } : {}) };
    const data = { ...fields, clusterUID, epoch: String(epoch) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    const write = resourceVersion ? client.replace.bind(client) : client.create.bind(client);
    // Only the metadata of the answer is kept: the next write needs the new resourceVersion.
    const { metadata: written } = await write(CONFIG_MAPS, object, { fieldManager: MANAGER_SYNC });
    maps.set(name, { metadata: written, epoch });
  }
}

async function* inventoryObjects(client: Client): AsyncGenerator<KubeObject> {
  const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
  for await (const { items } of client.pages(CONFIG_MAPS, { namespace: NAMESPACE, labelSelector })) {
    yield* items;
  }
}

/** Tells whether the ConfigMap holds entries of this scope. Unit names contain no dot, so there is none after the scope either. */
function isChunk(name: string, scope: string): boolean {
  const start = `${CHUNK_PREFIX}${scope}`;
  return name.startsWith(start) && !name.slice(start.length).includes('.');
}

function rejectForeign({ server }: Client, object: KubeObject, clusterUID: string): void {
  const found = textAt(object, 'data', 'clusterUID');
  if (found === clusterUID) return;
  if (found === undefined) throw damagedInventory(object, server, 'data.clusterUID is missing');
  throw new DamagedInventory(
    `the inventory ConfigMap ${NAMESPACE}/${object.metadata.name} on ${server} belongs to another cluster: expected ` +
      `${clusterUID}, got ${found}. If it was restored into a new cluster on purpose, delete the ConfigMaps inventory* in ${NAMESPACE}`,
  );
}

export function damagedInventory({ metadata }: KubeObject, server: string, why: string): DamagedInventory {
  return new DamagedInventory(
    `the inventory ConfigMap ${NAMESPACE}/${metadata.name} on ${server} is damaged: ${why}. Nothing is written or deleted ` +
      'in this cluster until it is restored or deleted',
  );
}

/** Reads the epoch of the last write. Earlier versions wrote none, which counts as 0: every epoch of a Lease is higher. */
function epochOf({ server }: Client, object: KubeObject): number {
  const text = textAt(object, 'data', 'epoch') ?? '0';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw damagedInventory(object, server, 'data.epoch is not an integer');
}

function fieldsOf(object: KubeObject): StateFields {
  const fields: StateFields = {};
  for (const field of STATE_FIELDS) {
    const value = textAt(object, 'data', field);
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

export function linesOf(text = ''): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}
