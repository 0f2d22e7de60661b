/** Refuses rules and limits in units that a ServiceAccount writes: only sync may write those. Pure. */
import { PRINCIPAL_SYNC } from '../../api/names.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { isGitOnly } from '../protected-kinds.ts';
import { declaredPipelines, HUB_TARGET, type Rendered, type RenderedUnit, sourceText } from '../rendered.ts';
import type { Refusal } from './refusal.ts';

/** Judges by the Pipelines that the same commit declares. Those in force before it are asked before anything is written. */
export function* identityRefusals(rendered: Pick<Rendered, 'targets'>): Iterable<Refusal> {
  const pipelines = pipelinesByUnit(rendered);
  for (const { target, units } of rendered.targets.filter((each) => each.target !== HUB_TARGET)) {
    for (const unit of units) {
      const pipeline = pipelines.get(unit.unit);
      if (pipeline !== undefined) yield* unitRefusals(target, unit, pipeline);
    }
  }
}

function* unitRefusals(target: string, { unit, objects }: RenderedUnit, pipeline: string): Iterable<Refusal> {
  for (const { object, source } of objects) {
    const id = objectIdOf(object);
    if (!isGitOnly(id)) continue;
    const message = `only ${PRINCIPAL_SYNC} may write it, and spec.identities of Pipeline ${pipeline} names an account for unit ${unit}: move it to another unit`;
    yield { target, unit, object: objectKey(id), source: sourceText(source), message };
  }
}

/** The name of the Pipeline by the unit that it names. */
function pipelinesByUnit(rendered: Pick<Rendered, 'targets'>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const pipeline of declaredPipelines(rendered)) {
    for (const identity of listAt(pipeline, 'spec', 'identities')) {
      const unit = textAt(identity, 'unit');
      if (unit !== undefined) found.set(unit, pipeline.metadata.name);
    }
  }
  return found;
}
