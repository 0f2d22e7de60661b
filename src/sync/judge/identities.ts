/** Refuses rules and limits in units that a ServiceAccount writes: only sync may write those. Pure. */
import { GROUP, PRINCIPAL_SYNC } from '../../api/names.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { isGitOnly } from '../protected-kinds.ts';
import {
  HUB_TARGET,
  type Rendered,
  type RenderedTarget,
  type RenderedUnit,
  sourceText,
} from '../rendered.ts';
import type { Refusal } from './refusal.ts';

/** Judges by the Pipelines that the same commit declares. Those in force before it are asked before anything is written. */
export function* identityRefusals({ targets }: Pick<Rendered, 'targets'>): Iterable<Refusal> {
  const units = unitsWithIdentity(targets.filter(({ target }) => target === HUB_TARGET));
  if (units.size === 0) return;
  for (const { target, units: rendered } of targets.filter((each) => each.target !== HUB_TARGET)) {
    for (const unit of rendered) {
      const pipeline = units.get(unit.unit);
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
function unitsWithIdentity(hub: readonly RenderedTarget[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { object } of hub.flatMap(({ units }) => units.flatMap(({ objects }) => objects))) {
    if (object.kind !== 'Pipeline' || !object.apiVersion.startsWith(`${GROUP}/`)) continue;
    for (const identity of listAt(object, 'spec', 'identities')) {
      const unit = textAt(identity, 'unit');
      if (unit !== undefined) found.set(unit, object.metadata.name);
    }
  }
  return found;
}
