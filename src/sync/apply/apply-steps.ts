/** Writes what a plan wants, step by step: within a step side by side, and one that fails takes only its dependents along. */
import { isKubeError } from '../../kube/client/errors.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import { isCrd } from '../protected-kinds.ts';
import { applyObject, type Written } from './apply-object.ts';
import type { SyncContext } from './context.ts';
import { matchesDesired, projectionOf } from './drift.ts';
import { NOT_SERVED_YET, waitUntilServed } from './live/crd-watch.ts';
import { dependencies, groupByStep } from './order.ts';
import type { ObjectPlan, TargetPlan } from './plan.ts';
import { runConcurrently } from './run-concurrently.ts';

export type ObjectOutcome =
  | { readonly state: 'applied'; readonly entry: ObjectPlan; readonly object: KubeObject }
  | {
      readonly state: 'failed';
      readonly entry: ObjectPlan;
      readonly reason: string;
      readonly message: string;
      /** It may pass without a person: it is tried again. */
      readonly passing: boolean;
    };

/** Adds to `outcomes`, so that what was confirmed is known even when the server is lost half-way. */
export async function applySteps(
  context: SyncContext,
  plan: TargetPlan,
  outcomes: Map<string, ObjectOutcome>,
): Promise<{ unlocked: boolean }> {
  const needs = dependencies(plan.wanted.map(({ object }) => object));
  let unlocked = false;
  for (const step of groupByStep(plan.wanted.filter(isWrite), ({ id }) => id)) {
    await runConcurrently(step, async (entry) => {
      const missing = needs(entry.object).find((key) => outcomes.get(key)?.state === 'failed');
      note(context, entry, missing ? dependencyFailed(missing) : await writeOne(context, entry), outcomes);
    });
    unlocked = (await definitionsServe(context, step, outcomes)) || unlocked;
  }
  return { unlocked };
}

function isWrite({ action }: ObjectPlan): boolean {
  return action === 'create' || action === 'update' || action === 'correct';
}

async function writeOne({ client, hub, signal }: SyncContext, entry: ObjectPlan): Promise<Written> {
  signal.throwIfAborted();
  return applyObject({ client, hub }, entry);
}

function note(
  { live, log, serverForms }: SyncContext,
  entry: ObjectPlan,
  written: Written,
  outcomes: Map<string, ObjectOutcome>,
): void {
  const key = objectKey(entry.id);
  const fields = { object: key, unit: entry.unit, because: entry.because };
  if (written.outcome === 'failed') {
    const { reason, message, passing } = written;
    outcomes.set(key, { state: 'failed', entry, reason, message, passing });
    log.warn('object not applied', { ...fields, reason, message });
    return;
  }
  const { object, replaced } = written;
  outcomes.set(key, { state: 'applied', entry, object });
  live.recordApplied(object);
  if (matchesDesired(entry.object, object)) serverForms.delete(key);
  else serverForms.set(key, { digest: entry.digest, projection: projectionOf(entry.object, object) });
  log.info(replaced ? 'object replaced' : 'object applied', fields);
}

function dependencyFailed(key: string): Written {
  return {
    outcome: 'failed',
    reason: 'DependencyFailed',
    message: `it needs ${key}, which failed`,
    passing: true,
  };
}

/** Waits until the API server serves the kinds that were just defined, and makes them visible. */
async function definitionsServe(
  context: SyncContext,
  step: readonly ObjectPlan[],
  outcomes: ReadonlyMap<string, ObjectOutcome>,
): Promise<boolean> {
  const fresh = step.filter(({ id }) => isCrd(id) && outcomes.get(objectKey(id))?.state === 'applied');
  if (fresh.length === 0) return false;
  await Promise.all(fresh.map((entry) => served(context, entry)));
  context.live.retryUnserved();
  return true;
}

/** The kind that a CRD defines; one that is not served in time is for the next pass. */
async function served(
  { client, clock, signal, log }: SyncContext,
  { id, object }: ObjectPlan,
): Promise<void> {
  const version = textAt(listAt(object, 'spec', 'versions')[0], 'name') ?? '';
  const kind = textAt(object, 'spec', 'names', 'kind') ?? '';
  const apiVersion = `${textAt(object, 'spec', 'group') ?? ''}/${version}`;
  try {
    await waitUntilServed(client, clock, { apiVersion, kind }, signal);
  } catch (error) {
    if (!isKubeError(error, ...NOT_SERVED_YET)) throw error;
    log.warn('definition not served in time', { object: objectKey(id) });
  }
}
