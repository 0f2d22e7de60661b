/**
 * Refuses a Pipeline that names a ServiceAccount for a unit that the commit does not render: after a typo, sync would write the
 * unit that was meant with all of its own permissions. Pure.
 */
import { nearest } from '../../api/validation/nearest.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { declaredPipelines, HUB_TARGET, type Rendered, sourceText } from '../rendered.ts';
import type { Refusal } from './refusal.ts';

type Targets = Pick<Rendered, 'targets'>;

export interface IdentityQuestion {
  /** The name of the Pipeline by which the commit is promoted. Others may promote another folder, with other units. */
  readonly pipeline: string;
  /**
   * Units that had an identity before this commit. Theirs may stay without the unit: `git revert` of the commit that added a unit
   * leaves the identity that a later commit gave it.
   */
  readonly before: ReadonlySet<string>;
}

export function identityUnitRefusals(rendered: Targets, { pipeline, before }: IdentityQuestion): Refusal[] {
  const declared = declaredPipelines(rendered).find(({ metadata }) => metadata.name === pipeline);
  if (!declared) return [];
  const units = renderedUnits(rendered);
  const named = unitsOf(declared);
  const unknown = named.filter((unit) => !units.has(unit) && !before.has(unit));
  const free = [...units].filter((unit) => !named.includes(unit));
  const source = sourceOf(rendered, declared);
  return unknown.map((name) => ({
    ...source,
    object: objectKey(objectIdOf(declared)),
    message: `spec.identities names unit ${name}, which no cluster gets from this commit: ${hintOf(name, free)}`,
  }));
}

/** Returns the units for which the Pipeline of a commit names an account. */
export function identityUnits(rendered: Targets | undefined, pipeline: string): ReadonlySet<string> {
  const declared = rendered && declaredPipelines(rendered).find(({ metadata }) => metadata.name === pipeline);
  return new Set(declared ? unitsOf(declared) : []);
}

function unitsOf(pipeline: KubeObject): string[] {
  return listAt(pipeline, 'spec', 'identities').flatMap((identity) => textAt(identity, 'unit') ?? []);
}

function renderedUnits({ targets }: Targets): ReadonlySet<string> {
  const clusters = targets.filter(({ target }) => target !== HUB_TARGET);
  return new Set(clusters.flatMap(({ units }) => units.map(({ unit }) => unit)));
}

function hintOf(name: string, free: readonly string[]): string {
  const guess = nearest(name, free);
  if (guess !== undefined) return `did you mean ${guess}?`;
  return 'correct the name, or add the identity in the commit that adds the unit';
}

function sourceOf({ targets }: Targets, pipeline: KubeObject): Pick<Refusal, 'target' | 'unit' | 'source'> {
  const hub = targets.find(({ target }) => target === HUB_TARGET);
  for (const { unit, objects } of hub?.units ?? []) {
    const found = objects.find(({ object }) => object === pipeline);
    if (found) return { target: HUB_TARGET, unit, source: sourceText(found.source) };
  }
  return { target: HUB_TARGET, unit: '', source: '' };
}
