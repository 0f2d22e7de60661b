/** Types of Kubernetes objects. Objects stay raw JSON from the API server, so that unknown fields are kept. */

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface ManagedFields {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The version through which it was written. */
  readonly apiVersion?: string;
  readonly subresource?: string;
  /** When it was last written, by the clock of the server. */
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

/**
 * A kind as one API server serves it, with everything that its paths need. The core group is ''. `T` is the type of its
 * objects.
 */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: it only carries the type `T`. */
  readonly object?: T;
}

export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** The fields that identify an object, and its version. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

/** Returns the identity and the version of the object, and these fields of it: those that it has. */
export function keptMetadata(metadata: Metadata, ...fields: readonly (keyof Metadata)[]): Metadata {
  const kept = [...IDENTITY, ...fields].flatMap((field) =>
    metadata[field] === undefined ? [] : [[field, metadata[field]]],
  );
  return { ...(Object.fromEntries(kept) as Partial<Metadata>), name: metadata.name };
}
