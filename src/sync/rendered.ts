/** Describes what a commit renders to: the objects for each cluster. */
import type { KubeObject } from '../kube/objects/object.ts';
import { objectIdOf } from '../kube/objects/object-id.ts';
import { EMPTY_TARGET } from './commits.ts';
import { isClusterId, isPipelineId } from './protected-kinds.ts';

/** The target of the hub's own objects, Cluster and Pipeline. Every other target is the name of a Cluster. */
export const HUB_TARGET = 'hub';

export interface RenderedObject {
  /** The object exactly as it is sent, except for the owner labels that apply adds. */
  readonly object: KubeObject;
  readonly source: Source;
}

/** The place where an object was declared, for error messages. */
export interface Source {
  /** `fleet/machines.ts:12` or the YAML file. */
  readonly file?: string;
  /** Path of the cdk8s construct: `test/machines/general`. */
  readonly construct?: string;
}

/** Formats the source as `fleet/machines.ts:12 test/machines/general`. */
export function sourceText({ file, construct }: Source): string {
  return [file, construct].filter(Boolean).join(' ');
}

/** The objects that one chart renders for one cluster. Inventory, delete budget and pause work by unit. */
export interface RenderedUnit {
  readonly unit: string;
  readonly objects: readonly RenderedObject[];
  /** The digest of the objects in canonical form, without the commit. */
  readonly digest: string;
}

export interface RenderedTarget {
  readonly target: string;
  readonly units: readonly RenderedUnit[];
  readonly digest: string;
}

/**
 * Returns the target of a cluster for which a commit declares nothing: it is known to have no objects; the delete budget limits
 * what is deleted. The hub's own objects are not deleted in this way.
 */
export function emptyTargetFor(target: string): RenderedTarget | undefined {
  return target === HUB_TARGET ? undefined : { target, units: [], digest: EMPTY_TARGET.digest };
}

export interface Rendered {
  readonly commit: string;
  readonly targets: readonly RenderedTarget[];
}

/** Returns the Clusters that a commit declares in the hub; undefined if it declares nothing for the hub. */
export function declaredClusters({ targets }: Rendered): ReadonlySet<string> | undefined {
  const ids = hubObjects(targets)?.map(objectIdOf);
  return ids && new Set(ids.filter(isClusterId).map(({ name }) => name));
}

/** Returns the Pipelines that a commit declares in the hub. */
export function declaredPipelines({ targets }: Pick<Rendered, 'targets'>): readonly KubeObject[] {
  return hubObjects(targets)?.filter((object) => isPipelineId(objectIdOf(object))) ?? [];
}

function hubObjects(targets: readonly RenderedTarget[]): readonly KubeObject[] | undefined {
  const hub = targets.find(({ target }) => target === HUB_TARGET);
  return hub?.units.flatMap(({ objects }) => objects.map(({ object }) => object));
}
