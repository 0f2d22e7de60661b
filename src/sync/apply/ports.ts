/** What a pass over one cluster needs besides the client. */
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ObjectId } from '../../kube/objects/object-id.ts';

export interface KindRef {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What is seen of the marked objects of a cluster: by watches, and by the answers to our own writes. */
export interface Live {
  /** Watches these kinds too. Resolves when each is seen whole, is not served here, or cannot be read. */
  watch(kinds: readonly KindRef[], signal: AbortSignal): Promise<void>;
  view(id: ObjectId): KubeObject | 'absent' | 'unknown';
  /** The server's answer to our write: newer than what the watch has seen. */
  wrote(object: KubeObject): void;
  gone(id: ObjectId): void;
  /** The kinds may have changed: those that were not served are asked for again. */
  forgetUnserved(): void;
  /** Why a kind is unknown, for people. */
  whyUnknown(kind: Pick<ObjectId, 'group' | 'kind'>): string | undefined;
  /** Why nothing that is seen may be believed now, or nothing. */
  stale(): string | undefined;
  close(): Promise<void>;
}
