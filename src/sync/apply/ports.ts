/** What a pass over one cluster needs besides the client. */
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ObjectId } from '../../kube/objects/object-id.ts';

export interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What is seen of the marked objects of a cluster: by watches, and by the answers to our own writes. */
export interface LiveCache {
  /** Watches these kinds too. Resolves when each is seen whole, is not served here, or cannot be read. */
  watch(kinds: readonly KindRef[], signal: AbortSignal): Promise<void>;
  get(id: ObjectId): KubeObject | 'absent' | 'unknown';
  /** The server's answer to our write: newer than what the watch has seen. */
  recordApplied(object: KubeObject): void;
  recordDeleted(id: ObjectId): void;
  /** The kinds may have changed: those that were not served are asked for again. */
  retryUnserved(): void;
  /** Why a kind is unknown, for people. */
  unknownReason(kind: Pick<ObjectId, 'group' | 'kind'>): string | undefined;
  /** Why the observations may be too old to act on. */
  staleReason(): string | undefined;
  close(): Promise<void>;
}
