/** Identifies an object independently of the version of its kind. */
import type { KubeObject } from './object.ts';

export interface ObjectId {
  readonly group: string;
  readonly kind: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export function objectIdOf({ apiVersion, kind, metadata }: KubeObject): ObjectId {
  return { group: groupOf(apiVersion), kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

/** A key for maps, also readable for people: `apps/Deployment web/frontend`. */
export function objectKey({ group, kind, namespace, name }: ObjectId): string {
  return `${group ? `${group}/` : ''}${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}
