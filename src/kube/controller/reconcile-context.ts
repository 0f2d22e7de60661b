/**
 * What a reconcile works with: views to read, and writes that are fenced, declared, skipped when they change nothing, and
 * visible to the next reconcile. No client is in it.
 */
import type { Clock } from '../../os/clock.ts';
import type { Store } from '../cache/store.ts';
import type { Occurrence } from '../events/object.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { Intent, StatusIntent } from './intent.ts';
import type { JsonPatchOperation } from './writes/declared-fields.ts';
import type { EvictionOutcome } from './writes/evict.ts';

export interface ReconcileContext {
  /** Aborted when the reconcile exceeds its time limit, when the lease is lost, or when the process has to stop now. */
  readonly signal: AbortSignal;
  /** Of the Lease's term, for compare-and-swap; undefined without an election. */
  readonly epoch: number | undefined;
  /** With the controller's name and the key. */
  readonly log: Log;
  readonly clock: Clock;

  /** The objects of a kind that the controller declared to read. */
  view<T extends KubeObject>(resource: Resource<T>): ReadableStore<T>;
  /**
   * How long since an object last changed, or the part of it that `ages` of its `read` names: a lower bound, by our
   * own clock. Undefined for an object that is not found.
   */
  ageMs(resource: Resource, key: string, part?: string): number | undefined;

  /**
   * Server-side apply of exactly these fields, of the object that is in the view; of a new one where the controller may
   * create. Sends no request when the object already has these values.
   */
  apply<T extends KubeObject>(resource: Resource<T>, intent: Intent<T>): Promise<T>;
  /** The same for the status. Written when it resolves: for what the next step relies upon. */
  applyStatus<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>): Promise<T>;
  /**
   * The same for a status that only reports: within a second only the last content is written. It does not wait, and a
   * failed write requeues the key.
   */
  reportStatus<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>): void;
  /** A JSON patch of this very object. Without a `test` of its own it tests that the object has not changed since. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    operations: readonly JsonPatchOperation[],
  ): Promise<T>;
  /** Rejects with AlreadyExists when the name is taken. */
  create<T extends KubeObject>(resource: Resource<T>, object: Intent<T>): Promise<T>;
  /** Deletes this very object, by its UID, and by its version when `unchanged`. */
  delete(resource: Resource, object: KubeObject, options?: DeleteWith): Promise<DeleteOutcome>;
  /** Asks the API server to evict this Pod. A refusal by a PodDisruptionBudget is an answer, not an error. */
  evict(pod: KubeObject, options?: { readonly gracePeriodSeconds?: number }): Promise<EvictionOutcome>;

  /** Returns the object with the finalizer; the unchanged object if it has the finalizer already or is being deleted. */
  addFinalizer<T extends KubeObject>(resource: Resource<T>, object: T, finalizer: string): Promise<T>;
  removeFinalizer<T extends KubeObject>(resource: Resource<T>, object: T, finalizer: string): Promise<T>;

  /** Records an Event: never waits, never fails. */
  event(about: KubeObject, event: ContextEvent): void;
}

/** The part of a store that a reconcile reads. */
export type ReadableStore<T extends KubeObject> = Pick<Store<T>, 'get' | 'list' | 'byIndex' | 'size'>;

export interface DeleteWith {
  readonly unchanged?: boolean;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

/** `Deleting` while finalizers or a grace period keep it. */
export type DeleteOutcome = 'Deleted' | 'Deleting';

export type ContextEvent = Omit<Occurrence, 'about'>;
