/** What commits render to, with digests as the renderer makes them. */
import { digestOf } from '../../../../src/kube/objects/digest.ts';
import type { RenderedTarget, RenderedUnit } from '../../../../src/sync/rendered.ts';

export function unitOf(unit: string, value: string): RenderedUnit {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: unit, namespace: 'default' },
    data: { value },
  };
  return { unit, objects: [{ object, source: { file: `${unit}.yaml` } }], digest: digestOf([object]) };
}

export function contentOf(target: string, ...units: readonly RenderedUnit[]): RenderedTarget {
  return { target, units, digest: digestOf(units.map(({ unit, digest }) => [unit, digest])) };
}
