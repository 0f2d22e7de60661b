/** The live objects of a cluster, as a reconcile reads them. */
import type { KubeError } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ObjectId } from '../../../kube/objects/object-id.ts';

export interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The objects with owner labels of one cluster, from watches and from the answers to our own writes. */
export interface LiveCache {
  /** Watches exactly these kinds. Resolves when each one is listed completely, is not served here, or cannot be read. */
  watch(kinds: readonly KindRef[], signal: AbortSignal): Promise<void>;
  get(id: ObjectId): KubeObject | 'absent' | 'unknown';
  /** The objects of every watched kind that can be read. */
  owned(): readonly KubeObject[];
  /** Stores the server's answer to our write, unless the watch is ahead of it. */
  recordApplied(object: KubeObject): void;
  /** Records that the object is deleted. With a UID that holds for this object only, and for no later one with its name. */
  recordDeleted(id: ObjectId & { readonly uid?: string }): void;
  /** Kinds that were not served are requested again: they may be served now. */
  retryUnserved(): void;
  /** The cluster answers again: watches that wait after an error are opened at once. */
  retryNow(): void;
  /**
   * Holds the watches of these kinds back while many of their objects are written. Returns the function that ends that; it ends by itself
   * after a minute.
   */
  hold(kinds: readonly KindRef[]): () => void;
  /** Why the objects of a kind are unknown. */
  unknownReason(kind: Pick<ObjectId, 'group' | 'kind'>): string | undefined;
  /**
   * Why the observations may be too old, or too incomplete, to act on. A kind for which the server answers with an error
   * does not count: the plan knows that its objects are unknown.
   */
  staleReason(): string | undefined;
  /** Why a kind that is served could not be listed. */
  readError(): KubeError | undefined;
  /** True while a watch that was complete is interrupted: the cluster may not answer. */
  isInterrupted(): boolean;
  close(): Promise<void>;
}
