/**
 * Defines what a reconcile works with: views to read, and writes that are fenced, declared, skipped when they change nothing, and visible
 * to the next reconcile. It contains no client.
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
  /** The signal that aborts when the reconcile exceeds its time limit, when the lease is lost, or when the process has to stop now. */
  readonly signal: AbortSignal;
  /** The epoch of the Lease's term, for compare-and-swap; undefined without an election. */
  readonly epoch: number | undefined;
  /** The log with the controller's name and the key. */
  readonly log: Log;
  readonly clock: Clock;

  /** Returns the objects of a kind that the controller declared to read. */
  view<T extends KubeObject>(resource: Resource<T>): ReadableStore<T>;
  /**
   * Returns how long ago an object last changed, or the part of it that `ages` of its `read` names: a lower bound, by our own clock.
   * Undefined for an object that is not found.
   */
  ageMs(resource: Resource, key: string, part?: string): number | undefined;

  /**
   * Sends a server-side apply of exactly these fields, of the object that is in the view, or of a new one where the controller may create.
   * Sends no request when the object already has these values.
   */
  apply<T extends KubeObject>(resource: Resource<T>, intent: Intent<T>): Promise<T>;
  /** Applies a status as `apply` does. It is written when this resolves, so that the next step may rely on it. */
  applyStatus<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>): Promise<T>;
  /**
   * Applies a status that only reports: within a second only the last content is written. It does not wait, and a failed write requeues the
   * key. With `delayMs` it may wait that long for a later report of the same object, and is written with the first one that may not wait.
   */
  reportStatus<T extends KubeObject>(
    resource: Resource<T>,
    intent: StatusIntent<T>,
    options?: { readonly delayMs?: number },
  ): void;
  /** Sends a JSON patch of this very object. Without a `test` of its own it tests that the object has not changed since. */
  patch<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    operations: readonly JsonPatchOperation[],
  ): Promise<T>;
  /** Creates the object. Rejects with AlreadyExists when the name is taken. */
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

/** The outcome of a deletion: `Deleting` while finalizers or a grace period keep the object. */
export type DeleteOutcome = 'Deleted' | 'Deleting';

export type ContextEvent = Omit<Occurrence, 'about'>;
