/** Defines what a controller is: a name, the kinds it reads, the fields it alone writes, and a reconcile of one key. */
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';
import type { Changed } from './predicates.ts';
import type { ReconcileContext } from './reconcile-context.ts';

export interface Controller {
  /** The name of the controller in lower case; also that of its queue, in metrics and in log lines. */
  readonly name: string;
  /** The kinds that it reads, declared by `read`. A reconcile begins only when the view of each kind is complete and fresh. */
  readonly reads: readonly KindRead[];
  /** Adds keys for changes that no view shows: it is called once with a function that adds a key, and returns how to end that. */
  readonly triggers?: (add: (key: string) => void) => () => void;
  /**
   * The fields that this controller alone writes, in this process and in every other: `Machine.spec.components`, or one entry of a map or a
   * list: `Machine.status.conditions[Ready]`. A write of any other field throws.
   */
  readonly writes: readonly string[];
  /**
   * The fields that several controllers write, each only its own entries, which a mark on the object names: taints of a Node. All of them
   * declare the field here. They change it by `patch`, which tests that the object has not changed.
   */
  readonly shares?: readonly string[];
  /** The kinds of which it may create objects; the fields that it sets have to be declared, too. */
  readonly creates?: readonly string[];
  /** The kinds of which it may delete objects. */
  readonly deletes?: readonly string[];
  /** Whether it may evict Pods. */
  readonly evicts?: boolean;
  /** The field manager of its writes. It is shared with no other controller: an apply removes what its manager no longer sends. */
  readonly fieldManager: string;
  /** The ServiceAccount as which it writes; without one, the identity of the process. */
  readonly serviceAccount?: ObjectName;
  /** The number of keys that are reconciled at once; 1 where a reconcile reads the whole fleet. */
  readonly concurrency?: number;
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult>;
}

/**
 * The result of a reconcile: empty when done; `requeueAt` to run again at that time. A failed reconcile throws, and is retried with
 * back-off.
 */
export interface ReconcileResult {
  readonly requeueAt?: Date;
  /** Whether the key goes ahead of other keys at that time. */
  readonly urgent?: boolean;
}

export type KeysOf<T extends KubeObject = KubeObject> = (object: T) => Iterable<string>;

export interface ReadOptions<T extends KubeObject> {
  /**
   * Returns the keys that an object concerns; it is called before and after a change. The first kind that a controller reads concerns the
   * key of its own name; every other kind needs this.
   */
  readonly keys?: KeysOf<T>;
  /** Tells whether an update is worth a reconcile; without it every update is. What is added or removed always is. */
  readonly changed?: Changed<T>;
  /** The time within which changes after the first one start one reconcile together: for a key that very many objects concern. */
  readonly gatherMs?: number;
  /** The parts of the object whose age `context.ageMs` returns, by a name for each. */
  readonly ages?: Readonly<Record<string, (object: T) => unknown>>;
}

export interface KindRead extends ReadOptions<KubeObject> {
  readonly resource: Resource;
}

/** Declares that a controller reads a kind: `read(MACHINES, { changed: generationChanged })`. */
export function read<T extends KubeObject>(resource: Resource<T>, options: ReadOptions<T> = {}): KindRead {
  // The view of this resource holds objects of this type, and only they are passed to these functions.
  return { resource, ...(options as unknown as ReadOptions<KubeObject>) };
}
