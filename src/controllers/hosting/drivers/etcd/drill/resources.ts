/** Finds where the API server keeps the objects of each resource in etcd, and how it is asked for them. Pure. */
import { listAt, textAt, valueAt } from '../../../../../kube/objects/json.ts';

/** A resource that the API server lists. */
export interface ListedResource {
  /** `secrets`, or `machines.kubenode.dev`. */
  readonly name: string;
  /** `/api/v1/secrets`. */
  readonly path: string;
  /** The keys of its objects begin with that, after the prefix of the cluster. */
  readonly keys: string;
  /** Whether it has a definition in the cluster. */
  readonly isCustom?: boolean;
}

/** These are kept under an older name, which kube-apiserver calls the special default prefixes. */
const OLDER_NAMES: Readonly<Record<string, string>> = {
  endpoints: 'services/endpoints',
  ingresses: 'ingress',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  services: 'services/specs',
};
/** Resources of these groups, and custom ones, are kept under the name of their group. */
const NAMED_GROUPS = ['apiextensions.k8s.io', 'apiregistration.k8s.io'];

export const CRD_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/**
 * Returns the resources of the aggregated discovery of the API server, in its order. Resources that are kept in the same place, as both kinds of
 * Events are, come once. Those of the groups of custom resources are found by their definitions: their discovery is complete later.
 */
export function builtInResources(
  discoveries: readonly unknown[],
  customGroups: ReadonlySet<string>,
): readonly ListedResource[] {
  const found = new Map<string, ListedResource>();
  for (const group of discoveries.flatMap((each) => listAt(each, 'items'))) {
    const name = textAt(group, 'metadata', 'name') ?? '';
    if (customGroups.has(name)) continue;
    for (const resource of resourcesIn(group, name)) {
      if (!found.has(resource.keys)) found.set(resource.keys, resource);
    }
  }
  return [...found.values()];
}

/** The first version that has a resource is the one that the API server prefers. */
function resourcesIn(group: unknown, name: string): readonly ListedResource[] {
  return listAt(group, 'versions').flatMap((version) => {
    const root = name === '' ? '/api' : `/apis/${name}`;
    const path = `${root}/${textAt(version, 'version') ?? ''}`;
    return listAt(version, 'resources')
      .filter((resource) => listAt(resource, 'verbs').includes('list'))
      .map((resource) => builtIn(textAt(resource, 'resource') ?? '', name, path));
  });
}

function builtIn(resource: string, group: string, path: string): ListedResource {
  const folder = OLDER_NAMES[resource] ?? resource;
  const isNamed = NAMED_GROUPS.includes(group);
  return {
    name: nameOf(resource, group),
    path: `${path}/${resource}`,
    keys: isNamed ? `${group}/${folder}/` : `${folder}/`,
  };
}

export interface CustomResources {
  readonly groups: ReadonlySet<string>;
  readonly resources: readonly ListedResource[];
}

/**
 * Returns the resources of CustomResourceDefinitions. One with a webhook that converts between versions cannot be read where that webhook does not
 * run, and one that is not served cannot be read at all.
 */
export function customResources(definitions: readonly unknown[]): CustomResources {
  const groups = new Set(definitions.map((each) => textAt(each, 'spec', 'group') ?? ''));
  return { groups, resources: definitions.flatMap((each) => customResource(each) ?? []) };
}

function customResource(definition: unknown): ListedResource | undefined {
  const group = textAt(definition, 'spec', 'group') ?? '';
  const plural = textAt(definition, 'spec', 'names', 'plural') ?? '';
  const served = listAt(definition, 'spec', 'versions').filter((each) => valueAt(each, 'served') === true);
  const version = served.find((each) => valueAt(each, 'storage') === true) ?? served[0];
  const isConverted = textAt(definition, 'spec', 'conversion', 'strategy') === 'Webhook';
  if (version === undefined || isConverted) return undefined;
  return {
    name: nameOf(plural, group),
    path: `/apis/${group}/${textAt(version, 'name') ?? ''}/${plural}`,
    keys: `${group}/${plural}/`,
    isCustom: true,
  };
}

function nameOf(resource: string, group: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
