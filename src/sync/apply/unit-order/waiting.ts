/**
 * Holds back the units whose dependencies are not ready. A unit is ready when every object of it is as git declares it, and healthy.
 * Only changes of content wait: what was applied before is corrected at once, whatever its dependencies are. Pure.
 */
import type { Blocker } from '../../../api/generated/types.ts';
import { pausedObjectName } from '../../../api/status/pauses.ts';
import { type PausedReason, UNIT_NOT_READY } from '../../../api/status/sync-words.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type ObservedObjects, targetHealth } from '../../health/target-health.ts';
import { isGitOnly } from '../../protected-kinds.ts';
import type { RenderedUnit } from '../../rendered.ts';
import { type UnitDependencies, unitDependencies } from '../../unit-order/dependencies.ts';
import type { ObjectOutcome } from '../apply-steps.ts';
import type { ApplyInput } from '../input.ts';
import type { ObjectPlan, PausedPart, TargetPlan, WaitingUnit } from '../plan.ts';
import { withDeleteOrder } from './delete-order.ts';

export interface UnitOrderInput extends Pick<ApplyInput, 'units' | 'inventory' | 'live'> {
  readonly observed: ObservedObjects;
  /**
   * The content was proven in this cluster before, as by a revert: units that exist do not wait. Their dependencies may be unhealthy
   * because of what the revert takes back.
   */
  readonly provenBefore?: boolean;
  /** Rules and limits stay as they are: no unit waits for them. */
  readonly isRollback?: true;
}

/** Returns the plan in which units wait for those that they depend on, and deletes for those of the units that depend on theirs. */
export function withUnitOrder(plan: TargetPlan, input: UnitOrderInput): TargetPlan {
  const dependencies = unitDependencies(input.units);
  const prune = withDeleteOrder(plan.prune, dependencies, input);
  const changed = Map.groupBy(plan.objects.filter(isNewContent), ({ unit }) => unit);
  const candidates = [...changed.keys()].filter((unit) => dependencies.has(unit));
  const waiting = new Map<string, WaitingUnit>();
  const readiness = createReadiness(plan, input, dependencies);
  for (const unit of candidates.toSorted(byCode)) {
    const found = passes(unit, input) ? undefined : waitOf(unit, dependencies, readiness);
    if (found) waiting.set(unit, found);
  }
  if (waiting.size === 0) return { ...plan, prune };
  const objects = plan.objects.map((object) => {
    const wait = isNewContent(object) ? waiting.get(object.unit) : undefined;
    return wait ? waitingObject(object, wait) : object;
  });
  return { ...plan, objects, prune, waitingUnits: [...waiting.values()] };
}

/** Tells whether the plan would write content that this cluster does not have from git. An object that only moved between units has it. */
function isNewContent({ action, entry, digest, waitReason }: ObjectPlan): boolean {
  const isHeldBack = action === 'create' || action === 'update' || action === 'wait';
  return isHeldBack && waitReason === undefined && entry?.applied !== digest;
}

function passes(unit: string, { provenBefore, inventory }: UnitOrderInput): boolean {
  if (!provenBefore) return false;
  return [...inventory.entries.values()].some((entry) => entry.unit === unit && entry.applied !== undefined);
}

function waitingObject(object: ObjectPlan, { because }: WaitingUnit): ObjectPlan {
  return { ...object, action: 'wait', because, waitReason: UNIT_NOT_READY };
}

/**
 * Tells whether the writes of a plan brought a unit that others wait for to what git declares: it may be ready now. A unit with a failed
 * write does not count, so that the write is not tried again at once.
 */
export function finishedDependency(
  { objects, waitingUnits = [] }: TargetPlan,
  outcomes: ReadonlyMap<string, ObjectOutcome>,
): boolean {
  const awaited = new Set(waitingUnits.map(({ dependency }) => dependency));
  // What is paused is not written: of a rollback it counts as ready, and otherwise it waits for a person.
  const written = objects.filter(
    ({ action, unit }) => awaited.has(unit) && action !== 'same' && action !== 'paused',
  );
  const isApplied = ({ id }: ObjectPlan): boolean => outcomes.get(objectKey(id))?.state === 'applied';
  return [...Map.groupBy(written, ({ unit }) => unit).values()].some((each) => each.every(isApplied));
}

/** Why a unit is not ready. */
interface Unready {
  readonly because: string;
  readonly hint: string;
  readonly blocker?: Blocker;
  readonly pausedBy?: PausedReason;
}

type Readiness = (unit: string) => Unready | undefined;

function waitOf(unit: string, dependencies: UnitDependencies, readiness: Readiness): WaitingUnit | undefined {
  for (const dependency of [...(dependencies.get(unit) ?? [])].toSorted(byCode)) {
    const unready = readiness(dependency);
    if (!unready) continue;
    const because = `unit ${unit} waits for unit ${dependency}: ${unready.because}. ${unready.hint}: unit ${unit} follows at once`;
    const { blocker, pausedBy } = unready;
    return { unit, dependency, because, ...optional('blocker', blocker), ...optional('pausedBy', pausedBy) };
  }
  return undefined;
}

/** Each unit is judged once, and only if a unit with changes depends on it. */
function createReadiness(
  { objects, paused = [] }: TargetPlan,
  { units, observed, isRollback }: UnitOrderInput,
  dependencies: UnitDependencies,
): Readiness {
  const known = new Map<string, Unready | undefined>();
  const declared = new Map(units.map((unit) => [unit.unit, unit]));
  const unapplied = new Map<string, ObjectPlan>();
  const kept = isRollback ? pausedPolicies(objects) : new Set<string>();
  for (const object of objects) {
    if (object.action === 'same' || kept.has(objectKey(object.id))) continue;
    if (!unapplied.has(object.unit)) unapplied.set(object.unit, object);
  }
  return readiness;

  function readiness(unit: string): Unready | undefined {
    if (!known.has(unit)) known.set(unit, unreadyReason(unit));
    return known.get(unit);
  }

  function unreadyReason(unit: string): Unready | undefined {
    const rendered = declared.get(unit);
    if (!rendered) return { because: 'this commit does not declare it', hint: `Declare unit ${unit}` };
    const first = unapplied.get(unit);
    return first ? unappliedReason(unit, first) : unhealthyReason(rendered);
  }

  function unappliedReason(unit: string, first: ObjectPlan): Unready {
    // A chain names its direct neighbor, and the object that everything waits for.
    const next = nextUnapplied(unit);
    if (next !== undefined) {
      const pausedBy = optional('pausedBy', lastOfChain(next)?.pausedBy);
      return { because: `it waits for unit ${next}`, hint: `Fix unit ${next}`, ...pausedBy };
    }
    const { id, because, pausedBy } = first;
    const { kind, name, namespace } = id;
    const blocker = { kind, name, ...(namespace ? { namespace } : {}) };
    const object = blockerText(blocker);
    if (pausedBy !== undefined) {
      return { because: `${object} is paused`, hint: resumeHint(first, paused), blocker, pausedBy };
    }
    return {
      because: `${object} is not applied yet: ${because}`,
      hint: `Fix ${object} if it stays so`,
      blocker,
    };
  }

  function nextUnapplied(unit: string): string | undefined {
    return [...(dependencies.get(unit) ?? [])].find((name) => name !== unit && unapplied.has(name));
  }

  function lastOfChain(start: string): ObjectPlan | undefined {
    const visited = new Set<string>();
    let last = start;
    for (let unit: string | undefined = start; unit !== undefined; unit = nextUnapplied(unit)) {
      if (visited.has(unit)) return undefined;
      visited.add(unit);
      last = unit;
    }
    return unapplied.get(last);
  }

  function unhealthyReason(unit: RenderedUnit): Unready | undefined {
    const judged = unit.objects.filter(({ object }) => !kept.has(objectKey(objectIdOf(object))));
    const health = targetHealth([{ ...unit, objects: judged }], observed);
    if (health.answer === 'Settled') return undefined;
    const { because, blocker, since } = health;
    const suffix = since ? `, since ${since.toISOString()}` : '';
    const hint = blocker ? `Fix ${blockerText(blocker)}` : `Wait until unit ${unit.unit} can be read`;
    return { because: `${because}${suffix}`, hint, ...optional('blocker', blocker) };
  }
}

function pausedPolicies(objects: readonly ObjectPlan[]): ReadonlySet<string> {
  const found = objects.filter(({ action, id }) => action === 'paused' && isGitOnly(id));
  return new Set(found.map(({ id }) => objectKey(id)));
}

/** The text of a pause tells how to end it, and who paused why. */
function resumeHint({ id, unit, entry }: ObjectPlan, paused: readonly PausedPart[]): string {
  const names = [`unit ${unit}`, `unit ${entry?.unit ?? unit}`, `object ${pausedObjectName(id)}`];
  const part = paused.find(({ name }) => names.includes(name));
  return part ? `Resume ${part.name} (${part.because})` : 'Resume it';
}

function blockerText({ kind, name, namespace }: Blocker): string {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}
