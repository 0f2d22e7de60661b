/** Lists what the API server in memory knows of a kind: from our CRDs, and of the kinds of Kubernetes as much as controllers use. */
import { crds } from '../../api/install/crds.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { type FieldType, listByKey, recordType } from './field-types.ts';

export interface ServedKind {
  readonly resource: Resource;
  /** It has a status subresource and, unless `generation` is false, a generation, as custom resources have. */
  readonly status?: boolean;
  readonly generation?: boolean;
  /** Without it: conditions are merged by type. */
  readonly type?: FieldType;
}

const METADATA = recordType({
  finalizers: { 'x-kubernetes-list-type': 'set' },
  ownerReferences: listByKey('uid'),
});
const CONDITIONS = recordType({ conditions: listByKey('type') });

export const DEFAULT_TYPE = recordType({ metadata: METADATA, status: CONDITIONS });

const BUILT_IN: Readonly<Record<string, Omit<ServedKind, 'resource'>>> = {
  Node: { status: true, generation: false },
  Pod: { status: true, generation: false },
};

/** Returns the kind as a real API server serves it. */
export function servedKind(resource: Resource): ServedKind {
  return { resource, ...(ourKinds()[resource.kind] ?? BUILT_IN[resource.kind]) };
}

/** Returns what a CRD declares for its first version. */
export function declaredKind(crd: KubeObject): Omit<ServedKind, 'resource'> {
  const [version] = listAt(crd, 'spec', 'versions');
  const { properties } = valueAt(version, 'schema', 'openAPIV3Schema') as FieldType;
  return {
    status: valueAt(version, 'subresources', 'status') !== undefined,
    type: recordType({ ...properties, metadata: METADATA }),
  };
}

let known: Readonly<Record<string, Omit<ServedKind, 'resource'>>> | undefined;

function ourKinds(): NonNullable<typeof known> {
  known ??= Object.fromEntries(
    crds().map((crd) => [textAt(crd, 'spec', 'names', 'kind') ?? '', declaredKind(crd)]),
  );
  return known;
}
