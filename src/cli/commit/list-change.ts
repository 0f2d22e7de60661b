/** Whether a change of a fleet repository adds exactly these entries to a list of a Pipeline, and changes nothing else. Pure. */

import { canonicalJson } from '../../kube/objects/digest.ts';
import { listAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { RenderedTarget } from '../../sync/rendered.ts';
import type { ListEntry } from './edit.ts';

export interface PipelineList {
  readonly pipeline: string;
  /** `acknowledgements` or `freezes`. */
  readonly list: string;
}

type Targets = readonly RenderedTarget[];

/** The list as the repository declares it; undefined if it does not declare the Pipeline. */
export function declaredList(
  targets: Targets,
  { pipeline, list }: PipelineList,
): readonly unknown[] | undefined {
  const found = targets
    .flatMap(({ units }) => units.flatMap(({ objects }) => objects.map(({ object }) => object)))
    .find((object) => isPipeline(object, pipeline));
  return found && listAt(found, 'spec', list);
}

export function addsExactly(
  { before, after }: { readonly before: Targets; readonly after: Targets },
  which: PipelineList,
  entries: readonly ListEntry[],
): boolean {
  const expected = [...(declaredList(before, which) ?? []), ...entries];
  return (
    sortedTexts(declaredList(after, which) ?? []) === sortedTexts(expected) &&
    canonicalJson(withoutList(before, which)) === canonicalJson(withoutList(after, which))
  );
}

function sortedTexts(items: readonly unknown[]): string {
  return items
    .map((item) => canonicalJson(item))
    .toSorted()
    .join('\n');
}

function isPipeline({ kind, metadata }: KubeObject, name: string): boolean {
  return kind === 'Pipeline' && metadata.name === name;
}

/** All objects, without where they are declared: lines move. */
function withoutList(targets: Targets, { pipeline, list }: PipelineList): unknown {
  return targets.map(({ target, units }) => ({
    target,
    units: units.map(({ unit, objects }) => ({
      unit,
      objects: objects.map(({ object }) => {
        if (!isPipeline(object, pipeline)) return object;
        const { [list]: _removed, ...spec } = object['spec'] as Record<string, unknown>;
        return { ...object, spec };
      }),
    })),
  }));
}
