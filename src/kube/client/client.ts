/**
 * Typed words for what an API server does, over raw JSON. `createRestClient` (rest-client.ts) is the implementation.
 * Every call rejects with a KubeError whose message names the verb, the object and the server.
 */
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';

export interface Client {
  /** Where this client speaks to, for messages. */
  readonly server: string;
  get<T = KubeObject>(resource: Resource, name: ObjectName, options?: CallOptions): Promise<T>;
  /** One page; `pages` goes through all of them. */
  list<T = KubeObject>(resource: Resource, options?: ListOptions): Promise<ListPage<T>>;
  /** Page by page, to the end or to an error: a part is never passed off as the whole. */
  pages<T = KubeObject>(resource: Resource, options?: ListOptions): AsyncIterable<ListPage<T>>;
  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Server-side apply of exactly this JSON, with fieldValidation=Strict. */
  apply<T = KubeObject>(resource: Resource, object: KubeObject, options: ApplyOptions): Promise<T>;
  create<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  /** PUT, with the object's resourceVersion as compare-and-swap. */
  replace<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  patch<T = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /**
   * Cannot be said without the UID of the very object that is meant. Answers with the object as the server last had
   * it, or with nothing where the server only says that it is deleted.
   */
  delete(resource: Resource, name: ObjectName, options: DeleteOptions): Promise<KubeObject | undefined>;
  /** Discovery: which Resource serves this apiVersion and kind here. Rejects with NotFound when none does. */
  resourceFor(apiVersion: string, kind: string): Promise<Resource>;
  /** All kinds of all groups; rejects when any group cannot be read. Cached until `forgetResources`. */
  resources(): Promise<readonly Resource[]>;
  forgetResources(): void;
  /** For what is no resource: /version, /healthz. The parsed JSON, or text where it is none. */
  raw(path: string, options?: CallOptions): Promise<unknown>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly subresource?: string;
  /** Called as the bytes would leave, after every wait. Throws to stop them: nothing is sent then. */
  readonly beforeSend?: () => void;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface ListPage<T = KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal;
}

/** An ERROR event never comes out of a watch: it rejects with the KubeError that it stands for. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubeObject;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  readonly force?: boolean;
}

export type Patch =
  | { readonly type: 'merge'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'json'; readonly body: readonly Readonly<Record<string, unknown>>[] };

export interface DeleteOptions extends CallOptions {
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly dryRun?: boolean;
}
