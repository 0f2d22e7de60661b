/** Builders of units that depend on others. */
import { ANNOTATION_DEPENDS_ON } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';
import { configMap, unit } from '../apply/fixtures.ts';

export function dependsOn(object: KubeObject, names: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [ANNOTATION_DEPENDS_ON]: names };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** A unit of one ConfigMap with its name. */
export function dependentUnit(name: string, names: string): RenderedUnit {
  return unit(name, [dependsOn(configMap(name.replace('.', '-')), names)]);
}
