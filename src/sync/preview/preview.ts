/**
 * Describes what a commit would do, as data: what is created, updated, replaced and deleted in each cluster and unit, and what
 * would be held. Pure. A cluster that could not be read is unknown, never unchanged.
 */
import { ADOPT_ALLOWED, ANNOTATION_ADOPT } from '../../api/names.ts';
import { diffObjects, formatDifferences } from '../../kube/objects/diff.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { adopts, isKeptOnPrune } from '../apply/inventory/owner-labels.ts';
import { sortByStep } from '../apply/order.ts';
import type { FieldPolicy } from '../apply/ownership/ignored-fields.ts';
import { contentDigestOf } from '../content-digest.ts';
import { scopedToHub } from '../hub-scope.ts';
import {
  type Acknowledgement,
  type DeleteBudget,
  type DeleteVerdict,
  judgeDeletes,
} from '../judge/delete-budget.ts';
import type { Refusal } from '../judge/refusal.ts';
import {
  declaredClusters,
  emptyTargetFor,
  HUB_TARGET,
  type Rendered,
  type RenderedObject,
  type RenderedTarget,
  type RenderedUnit,
  sourceText,
} from '../rendered.ts';
import { encryptedLines } from './encrypted.ts';
import type { FleetLimitsPreview } from './fleet-limits.ts';
import type { TargetDeployments } from './machine-deployments.ts';
import type { TargetRollouts } from './rollouts.ts';

export interface Preview {
  readonly from: string;
  readonly to: string;
  readonly targets: readonly TargetPreview[];
  /** Objects that fail the checks: a commit with a refusal is never promoted. */
  readonly refusals: readonly Refusal[];
  /** The meaning of the commit under the limits over clusters. Undefined if none concerns it. */
  readonly fleetLimits?: FleetLimitsPreview;
  /** The digest of the plan, the same as in the Release of the commit: an approval names it. */
  readonly digest: string;
}

export interface TargetPreview {
  readonly target: string;
  /** `live`: by server-side dry run in the cluster. `commits`: by comparing one commit with the other. */
  readonly by: 'live' | 'commits' | 'unknown';
  /** Why it is not live, or why it is unknown. */
  readonly because?: string;
  readonly units: readonly UnitPreview[];
  /** The rollouts of component sets. Undefined if the change concerns none. */
  readonly rollouts?: TargetRollouts;
  /** The MachineDeployments of Cluster API whose machines change. Undefined if the change concerns none. */
  readonly deployments?: TargetDeployments;
}

export interface UnitPreview {
  readonly unit: string;
  readonly changes: readonly PreviewChange[];
  readonly hold?: Pick<DeleteVerdict, 'planDigest' | 'because'>;
}

export interface PreviewChange {
  /**
   * `adopt`: it exists, and sync takes it over. `release`: it stays, and is not managed any more. `held`: it would be replaced, and waits
   * for a person.
   */
  readonly action: 'create' | 'adopt' | 'update' | 'replace' | 'delete' | 'release' | 'held' | 'refused';
  readonly object: string;
  readonly source?: string;
  /** Lines for people. Values of Secrets are masked. */
  readonly details: readonly string[];
}

export interface PreviewLimits {
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
  /** The ids of acknowledgements that release nothing from commit to commit. In a cluster, its inventory lists them. */
  readonly spent?: readonly string[];
  readonly fieldPolicies?: readonly FieldPolicy[];
  readonly forceManagers?: readonly string[];
}

export type PreviewVerdict = 'nothing' | 'changes' | 'held' | 'refused';

export function previewVerdict({ targets, refusals }: Preview): PreviewVerdict {
  const changes = targets.flatMap(({ units }) => units.flatMap((unit) => unit.changes));
  if (refusals.length > 0 || changes.some(({ action }) => action === 'refused')) return 'refused';
  const isHeld = targets.some(({ units }) => units.some(({ hold }) => hold));
  if (isHeld || changes.some(({ action }) => action === 'held')) return 'held';
  const unknown = targets.some(({ by }) => by === 'unknown');
  return changes.length > 0 || unknown ? 'changes' : 'nothing';
}

export function createPreview(
  parts: Omit<Preview, 'digest'>,
  { targets }: Pick<Rendered, 'targets'>,
): Preview {
  return { ...parts, digest: contentDigestOf(targets.map(({ target, digest }) => [target, digest])) };
}

/**
 * Renames the units of the hub as sync names them in the hub's inventory, in holds and in acknowledgements: the hub's own units
 * carry the name of their Pipeline.
 */
export function withHubScope<R extends Rendered | undefined>(rendered: R, pipeline: string): R {
  if (!rendered) return rendered;
  const targets = rendered.targets.map((target) =>
    target.target === HUB_TARGET ? scopedToHub(target, pipeline) : target,
  );
  return { ...rendered, targets };
}

/** Compares one commit with the other, cluster by cluster. The units of the hub have their scope. */
export function compareCommits(
  from: Rendered | undefined,
  to: Rendered,
  limits: PreviewLimits,
): TargetPreview[] {
  const names = new Set([...(from?.targets ?? []), ...to.targets].map(({ target }) => target));
  return [...names].toSorted(byCode).map((target) => {
    const before = from?.targets.find((one) => one.target === target);
    if (abandons(from, to, target)) return abandonedTarget(target);
    return {
      target,
      by: 'commits',
      units: compareTargets(
        before,
        to.targets.find((one) => one.target === target) ?? emptyTargetFor(target),
        limits,
      ),
    };
  });
}

function abandons(from: Rendered | undefined, to: Rendered, target: string): boolean {
  const wasDeclared = from !== undefined && declaredClusters(from)?.has(target) === true;
  return wasDeclared && declaredClusters(to)?.has(target) === false;
}

/** S12: a Cluster that a commit removes from git keeps its objects. */
export function abandonedTarget(target: string): TargetPreview {
  const because = 'git does not declare the Cluster any more: its objects stay';
  return { target, by: 'commits', because, units: [] };
}

function compareTargets(
  from: RenderedTarget | undefined,
  to: RenderedTarget | undefined,
  limits: PreviewLimits,
): UnitPreview[] {
  if (!to) return [];
  const units = [...new Set([...(from?.units ?? []), ...to.units].map(({ unit }) => unit))].toSorted(byCode);
  const desired = new Set(to.units.flatMap(({ objects }) => objects.map(keyOfRendered)));
  const present = new Map(
    (from?.units ?? []).flatMap(({ objects }) => objects.map((one) => [keyOfRendered(one), one] as const)),
  );
  return units
    .map((unit) => compareUnit(unit, { from, to, desired, present, limits }))
    .filter(({ changes, hold }) => changes.length > 0 || hold);
}

interface Comparison {
  readonly from: RenderedTarget | undefined;
  readonly to: RenderedTarget;
  readonly desired: ReadonlySet<string>;
  readonly present: ReadonlyMap<string, RenderedObject>;
  readonly limits: PreviewLimits;
}

function compareUnit(unit: string, { from, to, desired, present, limits }: Comparison): UnitPreview {
  const [before, after] = [objectsOf(from, unit), objectsOf(to, unit)];
  const removed = before
    .filter((one) => !desired.has(keyOfRendered(one)) && !isKeptOnPrune(one.object))
    .map(({ object }) => objectIdOf(object));
  const verdict = judgeDeletes(
    { unit, present: before.length, desired: after.length, deletes: removed },
    limits.budget,
    { declared: limits.acknowledgements, spent: limits.spent ?? [] },
  );
  const written = sortByStep(after, ({ object }) => objectIdOf(object)).flatMap((one) =>
    writtenChange(one, present.get(keyOfRendered(one))),
  );
  const deleted = sortByStep(removed, (id) => id)
    .toReversed()
    .map((id): PreviewChange => ({ action: 'delete', object: objectKey(id), details: [] }));
  const hold = verdict.held ? { hold: { planDigest: verdict.planDigest, because: verdict.because } } : {};
  return { unit, changes: [...written, ...deleted], ...hold };
}

function writtenChange(
  { object, source }: RenderedObject,
  before: RenderedObject | undefined,
): PreviewChange[] {
  const about = { object: objectKey(objectIdOf(object)), source: sourceText(source) };
  if (!before) {
    const details = adopts(object)
      ? [`adopted if it exists already: ${ANNOTATION_ADOPT}: ${ADOPT_ALLOWED}`]
      : [];
    return [{ action: 'create', ...about, details: [...details, ...encryptedLines(undefined, object)] }];
  }
  const details = isSopsEncrypted(object)
    ? encryptedLines(before.object, object)
    : changedLines(before.object, object);
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
