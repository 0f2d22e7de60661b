/**
 * What a commit would do, as data: for each cluster and unit what is created, updated, replaced and deleted, and what
 * would be held. Pure. A cluster that could not be asked is unknown, never unchanged.
 *
 * Which machines a change disturbs, and how, comes with the component set planner: a change will then carry them.
 */
import { diffObjects, formatDifferences } from '../../kube/objects/diff.ts';
import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { sortByStep } from '../apply/order.ts';
import {
  type Acknowledgement,
  type DeleteBudget,
  type DeleteVerdict,
  judgeDeletes,
} from '../judge/deletes.ts';
import type { Refusal } from '../judge/object-checks.ts';
import {
  type Rendered,
  type RenderedObject,
  type RenderedTarget,
  type RenderedUnit,
  sourceText,
} from '../rendered.ts';

export interface Preview {
  readonly from: string;
  readonly to: string;
  readonly targets: readonly TargetPreview[];
  /** What the judge refuses: a commit with one of these is never promoted. */
  readonly refusals: readonly Refusal[];
  /** Over all decisions, and nothing else: equal plans have equal digests, on any machine. */
  readonly digest: string;
}

export interface TargetPreview {
  readonly target: string;
  /** `live`: the cluster itself was asked, by server-side dry run. `commits`: one commit against the other. */
  readonly by: 'live' | 'commits' | 'unknown';
  /** Why not live, or why unknown. */
  readonly because?: string;
  readonly units: readonly UnitPreview[];
}

export interface UnitPreview {
  readonly unit: string;
  readonly changes: readonly Change[];
  readonly hold?: Pick<DeleteVerdict, 'planDigest' | 'because'>;
}

export interface Change {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'refused';
  readonly object: string;
  readonly source?: string;
  /** Lines for people; values of Secrets are masked. */
  readonly details: readonly string[];
}

export interface Limits {
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
}

export type Verdict = 'nothing' | 'changes' | 'held' | 'refused';

export function verdictOf({ targets, refusals }: Preview): Verdict {
  const changes = targets.flatMap(({ units }) => units.flatMap((unit) => unit.changes));
  if (refusals.length > 0 || changes.some(({ action }) => action === 'refused')) return 'refused';
  if (targets.some(({ units }) => units.some(({ hold }) => hold))) return 'held';
  const unknown = targets.some(({ by }) => by === 'unknown');
  return changes.length > 0 || unknown ? 'changes' : 'nothing';
}

export function previewOf(parts: Omit<Preview, 'digest'>): Preview {
  const decisions = parts.targets.map(({ target, by, units }) => [
    target,
    by === 'unknown',
    units.map(({ unit, changes, hold }) => [
      unit,
      changes.map(({ action, object }) => [action, object]),
      hold?.planDigest ?? '',
    ]),
  ]);
  return {
    ...parts,
    digest: digestOf([decisions, parts.refusals.map(({ object, message }) => [object, message])]),
  };
}

/** One commit against the other, cluster by cluster. */
export function compareCommits(from: Rendered | undefined, to: Rendered, limits: Limits): TargetPreview[] {
  const names = new Set([...(from?.targets ?? []), ...to.targets].map(({ target }) => target));
  return [...names].toSorted(byCode).map((target) => {
    const before = from?.targets.find((one) => one.target === target);
    return {
      target,
      by: 'commits',
      units: compareTargets(
        before,
        to.targets.find((one) => one.target === target),
        limits,
      ),
    };
  });
}

/** A target that the new commit does not name at all gets nothing, and loses nothing. */
function compareTargets(
  from: RenderedTarget | undefined,
  to: RenderedTarget | undefined,
  limits: Limits,
): UnitPreview[] {
  if (!to) return [];
  const units = [...new Set([...(from?.units ?? []), ...to.units].map(({ unit }) => unit))].toSorted(byCode);
  const wanted = new Set(to.units.flatMap(({ objects }) => objects.map(keyOfRendered)));
  const present = new Map(
    (from?.units ?? []).flatMap(({ objects }) => objects.map((one) => [keyOfRendered(one), one] as const)),
  );
  return units
    .map((unit) => compareUnit(unit, { from, to, wanted, present, limits }))
    .filter(({ changes, hold }) => changes.length > 0 || hold);
}

interface Comparison {
  readonly from: RenderedTarget | undefined;
  readonly to: RenderedTarget;
  readonly wanted: ReadonlySet<string>;
  readonly present: ReadonlyMap<string, RenderedObject>;
  readonly limits: Limits;
}

function compareUnit(unit: string, { from, to, wanted, present, limits }: Comparison): UnitPreview {
  const [before, after] = [objectsOf(from, unit), objectsOf(to, unit)];
  const gone = before
    .filter((one) => !wanted.has(keyOfRendered(one)))
    .map(({ object }) => objectIdOf(object));
  const verdict = judgeDeletes(
    { unit, present: before.length, wanted: after.length, deletes: gone },
    limits.budget,
    limits.acknowledgements,
  );
  const written = sortByStep(after, ({ object }) => objectIdOf(object)).flatMap((one) =>
    writtenChange(one, present.get(keyOfRendered(one))),
  );
  const deleted = sortByStep(gone, (id) => id)
    .toReversed()
    .map((id): Change => ({ action: 'delete', object: objectKey(id), details: [] }));
  const hold = verdict.held ? { hold: { planDigest: verdict.planDigest, because: verdict.because } } : {};
  return { unit, changes: [...written, ...deleted], ...hold };
}

function writtenChange({ object, source }: RenderedObject, before: RenderedObject | undefined): Change[] {
  const about = { object: objectKey(objectIdOf(object)), source: sourceText(source) };
  if (!before) return [{ action: 'create', ...about, details: [] }];
  const details = changedLines(before.object, object);
  return details.length > 0 ? [{ action: 'update', ...about, details }] : [];
}

function changedLines(before: KubeObject, after: KubeObject): string[] {
  return formatDifferences(diffObjects(before, after));
}

function objectsOf(target: RenderedTarget | undefined, unit: string): RenderedUnit['objects'] {
  return target?.units.find((one) => one.unit === unit)?.objects ?? [];
}

function keyOfRendered({ object }: RenderedObject): string {
  return objectKey(objectIdOf(object));
}
