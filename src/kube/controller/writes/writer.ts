/** Sends the writes of one controller: declared, of the object that was read, skipped when nothing changes, and visible at once. */
import type { Client } from '../../client/client.ts';
import { isKubeError, KubeError } from '../../client/errors.ts';
import { labelOf, nameOf } from '../../client/paths.ts';
import { listAt, valueAt } from '../../objects/json.ts';
import type { KubeObject, Resource } from '../../objects/object.ts';
import { optional } from '../../objects/optional.ts';
import { completeIntent, type Intent, type StatusIntent } from '../intent.ts';
import type { DeleteOutcome, DeleteWith } from '../reconcile-context.ts';
import type { ControllerViews } from '../views.ts';
import type { JsonPatchOperation } from './declared-fields.ts';
import { type EvictionOutcome, evictionOf, evictionOutcome } from './evict.ts';
import {
  checkCreate,
  checkDelete,
  checkEvict,
  checkPatch,
  checkStatusWrite,
  checkWrite,
  type Permissions,
} from './permissions.ts';
import { isUnchanged } from './unchanged.ts';

/** Holds what every write of a reconcile carries. */
export interface WriterCall {
  readonly signal: AbortSignal;
  /** Throws when the reconcile may not write any more. It is called immediately before the bytes are sent. */
  readonly beforeSend: () => void;
}

export type WriterClient = Pick<Client, 'apply' | 'create' | 'patch' | 'delete'>;

export interface WriterOptions {
  readonly controller: Permissions & { readonly fieldManager: string };
  readonly client: WriterClient;
  readonly views: Pick<ControllerViews, 'find'>;
}

export interface Writer {
  apply<T extends KubeObject>(resource: Resource<T>, intent: Intent<T>, call: WriterCall): Promise<T>;
  applyStatus<T extends KubeObject>(
    resource: Resource<T>,
    intent: StatusIntent<T>,
    call: WriterCall,
  ): Promise<T>;
  /** Throws as `applyStatus` does before it sends anything. */
  checkStatus(resource: Resource, intent: StatusIntent): void;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    operations: readonly JsonPatchOperation[],
    call: WriterCall,
  ): Promise<T>;
  create<T extends KubeObject>(resource: Resource<T>, object: Intent<T>, call: WriterCall): Promise<T>;
  delete(resource: Resource, object: KubeObject, options: WriterCall & DeleteWith): Promise<DeleteOutcome>;
  evict(pod: KubeObject, options: WriterEviction): Promise<EvictionOutcome>;
}

export type WriterEviction = WriterCall & { readonly gracePeriodSeconds?: number };

const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

export function createWriter(options: WriterOptions): Writer {
  const { controller, client, views } = options;
  const { fieldManager } = controller;
  return {
    apply: async (resource, intent, call) => {
      const object = completeIntent(resource, intent);
      checkWrite(controller, object);
      const live = views.find(resource)?.store.get(nameOf(object));
      if (!live) checkCreate(controller, object.kind);
      return send(options, resource, { object, live, applied: { fieldManager }, call });
    },
    applyStatus: async (resource, intent, call) => {
      checkStatusWrite(controller, resource, intent);
      const object = completeIntent(resource, intent);
      const view = views.find(resource);
      const live = view?.store.get(nameOf(object));
      if (view && !live) throw notInView(object);
      return send(options, resource, {
        object,
        live,
        applied: { fieldManager, subresource: 'status' },
        call,
      });
    },
    checkStatus: (resource, intent) => checkStatusWrite(controller, resource, intent),
    patch: async (resource, object, operations, call) => {
      checkPatch(controller, object, operations);
      const patch = { type: 'json', body: withTests(object, operations) } as const;
      const how = { fieldManager, ...callOf(call) };
      const answer = await client.patch(resource, nameOf(object), patch, how).catch(asConflict);
      return stored(options, resource, answer);
    },
    create: async (resource, intent, call) => {
      const object = completeIntent(resource, intent);
      checkCreate(controller, object.kind);
      checkWrite(controller, object);
      const answer = await client.create(resource, object, { fieldManager, ...callOf(call) });
      return stored(options, resource, answer);
    },
    delete: async (resource, object, call) => {
      checkDelete(controller, resource.kind);
      const answer = await remove(client, resource, { object, call });
      if (answer && isKept(answer)) {
        stored(options, resource, answer);
        return 'Deleting';
      }
      views.find(resource)?.deleted(object);
      return 'Deleted';
    },
    evict: (pod, call) => {
      checkEvict(controller);
      return evict(client, pod, call);
    },
  };
}

interface Apply<T extends KubeObject> {
  readonly object: KubeObject;
  readonly live: T | undefined;
  readonly applied: { readonly fieldManager: string; readonly subresource?: 'status' };
  readonly call: WriterCall;
}

async function send<T extends KubeObject>(
  options: WriterOptions,
  resource: Resource<T>,
  { object, live, applied, call }: Apply<T>,
): Promise<T> {
  const conditional = object.metadata.resourceVersion !== undefined;
  if (live && !conditional && isUnchanged(object, live, applied)) return live;
  // Declared fields belong to this controller alone: a value of another manager is overwritten.
  const how = { ...applied, force: true, ...callOf(call) };
  return stored(options, resource, await options.client.apply(resource, ofLive(object, live), how));
}

/**
 * Returns the object with the UID of the live one: an object that was deleted meanwhile is not created again, and one that took its name is
 * left alone.
 */
function ofLive(object: KubeObject, live: KubeObject | undefined): KubeObject {
  const uid = object.metadata.uid ?? live?.metadata.uid;
  return uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } };
}

/**
 * Returns the operations with tests. Without a test of its own, a patch holds only for the version that was read; in any case, for this
 * very object.
 */
function withTests(
  { metadata: { uid, resourceVersion } }: KubeObject,
  operations: readonly JsonPatchOperation[],
): Readonly<Record<string, unknown>>[] {
  const version = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
  const tested = operations.some(({ op }) => op === 'test');
  const tests = [{ op: 'test', path: '/metadata/uid', value: uid }, ...(tested ? [] : [version])];
  return [...tests, ...operations.map((operation) => ({ ...operation }))];
}

/**
 * Turns the error of a failed test into a Conflict. It is a 422 like that of an invalid object, but without the fields that are invalid.
 */
function asConflict(error: unknown): never {
  if (isKubeError(error, 'Invalid') && error.status === 422 && error.causes.length === 0) {
    const { message, status, reason } = error;
    const more = { ...optional('status', status), ...optional('reason', reason), cause: error };
    throw new KubeError('Conflict', `changed since it was read: ${message}`, more);
  }
  throw error;
}

interface Removal {
  readonly object: KubeObject;
  readonly call: WriterCall & DeleteWith;
}

/** Returns the object while something keeps it; undefined when it is deleted, by us or before. */
async function remove(
  client: WriterClient,
  resource: Resource,
  { object, call }: Removal,
): Promise<KubeObject | undefined> {
  const { uid, resourceVersion } = object.metadata;
  if (uid === undefined) throw new Error(`delete ${textOf(object)}: its uid is missing`);
  const version = call.unchanged && resourceVersion !== undefined ? { resourceVersion } : {};
  const propagation = call.propagation ? { propagation: call.propagation } : {};
  try {
    return await client.delete(resource, nameOf(object), {
      uid,
      ...version,
      ...propagation,
      ...callOf(call),
    });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function evict(
  client: WriterClient,
  pod: KubeObject,
  { gracePeriodSeconds, ...call }: WriterEviction,
): Promise<EvictionOutcome> {
  try {
    const eviction = evictionOf(pod, gracePeriodSeconds);
    await client.create(PODS, eviction, { subresource: 'eviction', ...callOf(call) });
    return { evicted: true };
  } catch (error) {
    const outcome = evictionOutcome(error);
    if (outcome) return outcome;
    throw error;
  }
}

function stored<T extends KubeObject>(
  { views }: WriterOptions,
  resource: Resource<T>,
  answer: KubeObject,
): T {
  const view = views.find(resource);
  const object = view?.wrote(answer) ?? (answer as T);
  // The removal of the last finalizer answers with the object that it deleted.
  if (object.metadata.deletionTimestamp !== undefined && !isKept(object)) view?.deleted(object);
  return object;
}

function isKept(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const graceSeconds = valueAt(object, 'metadata', 'deletionGracePeriodSeconds');
  const inGrace = typeof graceSeconds === 'number' && graceSeconds > 0;
  // Namespaces are finalized by their spec.
  const kept = finalizers.length > 0 || listAt(object, 'spec', 'finalizers').length > 0 || inGrace;
  return deletionTimestamp !== undefined && kept;
}

function notInView(object: KubeObject): KubeError {
  return new KubeError('NotFound', `apply status of ${textOf(object)}: not in the view`);
}

function textOf(object: KubeObject): string {
  return labelOf(object, nameOf(object));
}

/** Returns only the call. Its own getter is asked for the signal, so that it is made only for a reconcile that writes. */
function callOf({ signal, beforeSend }: WriterCall): WriterCall {
  return { signal, beforeSend };
}
