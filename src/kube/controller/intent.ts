/** The fields of an object that a controller owns, and nothing else. */
import { apiVersionOf } from '../client/paths.ts';
import type { KubeObject, Metadata, Resource } from '../objects/object.ts';

/** Any part of a value; a list is replaced or merged entry by entry, depending on its schema. */
export type PartOf<V> = V extends readonly (infer E)[]
  ? readonly PartOf<E>[]
  : V extends object
    ? { readonly [F in keyof V]?: PartOf<V[F]> }
    : V;

/** `resourceVersion`, where given, makes the write conditional on it. */
export type IntentMetadata = Pick<Metadata, 'name'> & Partial<Metadata>;

export type Intent<T extends KubeObject = KubeObject> = {
  readonly [F in keyof T as F extends 'apiVersion' | 'kind' | 'metadata' | 'status' ? never : F]?: PartOf<
    T[F]
  >;
} & { readonly metadata: IntentMetadata };

export interface StatusIntent<T extends KubeObject = KubeObject> {
  readonly metadata: Pick<IntentMetadata, 'name' | 'namespace' | 'uid' | 'resourceVersion'>;
  readonly status: PartOf<NonNullable<T['status']>>;
}

/** The intent as it is sent. */
export function completeIntent(resource: Resource, intent: Intent | StatusIntent): KubeObject {
  return { ...intent, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
