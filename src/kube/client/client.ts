/**
 * Defines the operations of an API server, typed, over raw JSON. They are implemented by `createRestClient` (rest-client.ts). Every call
 * rejects with a KubeError whose message names the verb, the object and the server.
 */
import type { Impersonation } from '../auth/credentials.ts';
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';

export interface Client {
  /** The URL of the server, for messages. */
  readonly server: string;
  get<T = KubeObject>(resource: Resource, name: ObjectName, options?: CallOptions): Promise<T>;
  /** Reads one page; `pages` reads all of them. */
  list<T = KubeObject>(resource: Resource, options?: ListOptions): Promise<ListPage<T>>;
  /** Reads all pages, or throws an error: an incomplete list never looks complete. */
  pages<T = KubeObject>(resource: Resource, options?: ListOptions): AsyncIterable<ListPage<T>>;
  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Sends a server-side apply of exactly this JSON, with fieldValidation=Strict. */
  apply<T = KubeObject>(resource: Resource, object: KubeObject, options: ApplyOptions): Promise<T>;
  create<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  /** Sends a PUT, with the object's resourceVersion as compare-and-swap. */
  replace<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  patch<T = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>;
  /**
   * Deletes the object with this UID, which is required. Returns the object as the server last had it, or undefined when the server only
   * confirms the deletion.
   */
  delete(resource: Resource, name: ObjectName, options: DeleteOptions): Promise<KubeObject | undefined>;
  /** Returns the Resource for this apiVersion and kind by discovery. Rejects with NotFound when the server does not serve it. */
  resourceFor(apiVersion: string, kind: string): Promise<Resource>;
  /** Returns all kinds of all groups, cached until `forgetResources`. Rejects when any group cannot be read. */
  resources(): Promise<readonly Resource[]>;
  forgetResources(): void;
  /** Reads a path other than that of a resource: /version, /healthz. Returns the parsed JSON, or the text when it is not JSON. */
  raw(path: string, options?: CallOptions): Promise<unknown>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly subresource?: string;
  /**
   * The check that is called immediately before the request is sent, after every wait. It throws to stop the request: then nothing is sent.
   */
  readonly beforeSend?: () => void;
  /** The user as whom the server carries the call out, which it allows only with the permission to impersonate this user. */
  readonly impersonate?: Impersonation;
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
  /** How many objects the other pages have, if the server counts them. */
  readonly remaining?: number;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal;
}

/** Holds one event of a watch. ERROR events are not returned: the watch rejects with the corresponding KubeError. */
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
  /** The time that the processes of a Pod may take to end. 0 removes the object at once. */
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}
